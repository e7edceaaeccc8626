"""Forms, urlencoded and multipart: text fields are decoded as if they were a JSON body."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from accounting.errors import ValidationError
from accounting.files.uploads import Upload
from server.contract.document import Schema
from server.http.field_errors import LONGEST_NAME, Faults, add_fault, suggestion
from server.http.parameters import MOST_PAIRS, split_pairs, text_reader
from server.http.schemas import SchemaCompiler
from server.http.strict_json import NumberBeyond, Place, parse_json, refuse_too_many

Pair = tuple[str, "str | Upload"]


@dataclass(frozen=True, slots=True)
class Field:
    """The reader of a form field; `many` for a list, `is_file` for an upload only."""

    read: Callable[[str], Any]
    many: bool = False
    is_file: bool = False


class FormReader:
    """A reader for the fields of one form schema."""

    def __init__(self, schema: Schema, compiler: SchemaCompiler) -> None:
        self._fields = {
            name: compile_field(part, compiler)
            for name, part in compiler.properties(schema).items()
        }
        self.takes_files = any(field.is_file for field in self._fields.values())
        self._is_open = compiler.resolved(schema).get("additionalProperties") is True

    def value(
        self, pairs: list[Pair], faults: Faults, beyond: list[Place]
    ) -> tuple[dict[str, Any], dict[str, Upload]]:
        """Return (body, files); a value that does not fit the schema stays text for the validator.

        The body has an empty text for a file, so that the validator sees its field. The paths of
        numbers beyond the limit of JSON are added to `beyond`.
        """
        refuse_too_many(*_json_texts(pairs))
        text = Field(str)
        given: dict[str, list[str | Upload]] = {}
        for name, item in pairs:
            given.setdefault(name, []).append(item)
        body: dict[str, Any] = {}
        files: dict[str, Upload] = {}
        for name, items in given.items():
            field = self._fields.get(name, text)
            texts = [item for item in items if isinstance(item, str)]
            first = items[0]
            if self._is_open and name not in self._fields:
                body[name] = "".join(texts)  # It is ignored, as often as it is sent.
            elif len(items) > 1 and not field.many:
                add_fault(faults, name[:LONGEST_NAME], "is given more than once")
            elif field.is_file and isinstance(first, Upload):
                files[name], body[name] = first, ""
            elif field.is_file or len(texts) < len(items):
                add_fault(faults, name[:LONGEST_NAME], self._fault_of_kind(name, faults))
            else:
                try:
                    body[name] = _read_many(field, texts) if field.many else field.read(texts[0])
                except NumberBeyond as error:
                    body[name] = error.value
                    beyond += [(name, *place) for place in error.places]
                except ValidationError:
                    add_fault(faults, name[:LONGEST_NAME], "must be JSON text")
        return body, files

    def _fault_of_kind(self, name: str, faults: Faults) -> str:
        """Return the message about a text that must be a file, or a file that must not be one."""
        field = self._fields.get(name)
        if field is None:
            return f"is not a known field{suggestion(name, self._fields, faults)}"
        return "must be a file" if field.is_file else "must not be a file"


def compile_field(schema: Schema, compiler: SchemaCompiler) -> Field:
    """Compile one field: scalars by their type, everything else as JSON text.

    If the schema accepts any JSON, invalid JSON is refused here, since the validator cannot see it.
    """
    schema = compiler.resolved(schema)
    parts = schema.get("allOf", [])
    if "type" not in schema and len(parts) == 1:
        return compile_field(parts[0], compiler)
    if not schema.keys() & {"type", "allOf", "anyOf", "oneOf"}:
        return Field(lambda text: parse_json(text.encode()))
    if schema.get("type") == "array":
        return Field(compile_field(schema.get("items", {}), compiler).read, many=True)
    if schema.get("type") == "string":
        return Field(str, is_file=schema.get("format") == "binary")
    scalar = schema.get("type") in ("integer", "number", "boolean")
    read = text_reader(schema) if scalar else read_json_text
    return Field(lambda text: None if text == "null" else read(text))


def read_json_text(text: str) -> Any:
    """Return the value of a JSON text, as strict as a body; return other text unchanged."""
    try:
        return parse_json(text.encode())
    except NumberBeyond:
        raise
    except ValidationError:
        return text


def _json_texts(pairs: list[Pair]) -> list[bytes]:
    """Return the texts that may be JSON of many values."""
    texts = (item for _, item in pairs if isinstance(item, str))
    return [text.encode() for text in texts if text.lstrip()[:1] in ("[", "{")]


def _read_many(field: Field, texts: list[str]) -> list[Any] | None:
    """Read a list: repeated fields, or one field with the whole list, or null, as JSON text."""
    if len(texts) == 1 and texts[0].lstrip().startswith("["):
        whole = read_json_text(texts[0])
        if isinstance(whole, list):
            return whole
    values: list[Any] = []
    places: list[Place] = []
    for text in texts:
        try:
            values.append(field.read(text))
        except NumberBeyond as error:
            places += [(str(len(values)), *place) for place in error.places]
            values.append(error.value)
    if places:
        raise NumberBeyond(values, places)
    return None if values == [None] else values


def urlencoded_pairs(raw: bytes) -> list[Pair]:
    """Return the fields of an `application/x-www-form-urlencoded` body."""
    return [*split_pairs(raw)]


def multipart_pairs(raw: bytes, boundary: bytes) -> list[Pair]:
    """Return the parts of a `multipart/form-data` body.

    ValidationError `bad_request` if it is truncated, garbled, or has a part without a name.
    """
    collector = _Parts()
    try:
        # The library's type of its callbacks is private.
        parser = MultipartParser(boundary, collector.callbacks())  # type: ignore[arg-type]
        parser.write(raw)
        parser.finalize()
    except (FormParserError, ValueError):
        raise ValidationError("bad_request", "The multipart body is not well formed.") from None
    if not collector.complete:
        raise ValidationError("bad_request", "The multipart body ends before its last boundary.")
    return collector.pairs


class _Parts:
    """A collector of the parts that the multipart parser reports."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self.complete = False
        self._headers: dict[bytes, bytes] = {}
        self._name = self._value = self._content = b""
        self._chunks: list[bytes] = []

    def callbacks(self) -> dict[str, Callable[..., None]]:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._add_name,
            "on_header_value": self._add_value,
            "on_header_end": self._end_header,
            "on_part_data": self._add_data,
            "on_part_end": self._end_part,
            "on_end": self._end,
        }

    def _begin(self) -> None:
        if len(self.pairs) == MOST_PAIRS:
            raise ValidationError("bad_request", f"There are more than {MOST_PAIRS} fields.")
        self._headers = {}
        self._chunks = []

    def _add_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def _add_data(self, data: bytes, start: int, end: int) -> None:
        self._chunks.append(data[start:end])

    def _end_part(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        content = b"".join(self._chunks)
        try:
            name = options[b"name"].decode()
            is_file = b"filename" in options
            text = (options[b"filename"] if is_file else content).decode()
        except KeyError:
            raise ValidationError(
                "bad_request", "A part of the multipart body has no name."
            ) from None
        except UnicodeDecodeError:
            raise ValidationError("bad_request", "The text is not UTF-8.") from None
        if "\0" in text or "\0" in name:
            raise ValidationError("bad_request", "The character U+0000 is not allowed.")
        if not is_file:
            self.pairs.append((name, text))
            return
        content_type = self._headers.get(b"content-type", b"application/octet-stream")
        self.pairs.append((name, Upload(text, content_type.decode("latin-1"), content)))

    def _end(self) -> None:
        self.complete = True
