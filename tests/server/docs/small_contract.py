"""A small contract with everything that the reference shows."""

from typing import Any

import orjson

CODES: dict[str, Any] = {
    "thing_is_odd": {"status": 422, "when": "The thing is odd.", "do": "Send another."},
    "thing_not_found": {"status": 404, "when": "There is none.", "do": "Look for it."},
    "thing_is_stuck": {
        "status": 409,
        "when": "The thing is stuck.",
        "do": "Wait.",
        "detail": {"stuck_since": "When it got stuck."},
    },
    "thing_is_old": {"status": 409, "when": "The thing is old.", "do": "Renew it."},
    "thing_is_big": {"status": 409, "when": "The thing is big.", "do": "Cut it."},
    "thing_is_broken": {"status": 500, "when": "We broke it.", "do": "Tell us."},
}
REFUSAL: dict[str, Any] = {"content": {"application/json": {"examples": {}}}}
DOCUMENT: dict[str, Any] = {
    "info": {
        "title": "Test API",
        "version": "1.2.3",
        "description": "Hello.\n\n## One thing\n\nSee `change_thing`.\n\n## Another\n\nY.",
    },
    "tags": [{"name": "Things", "description": "What there is."}],
    "paths": {
        "/v1/things/{thing_id}/": {
            "parameters": [{"$ref": "#/components/parameters/ThingId"}],
            "post": {
                "tags": ["Things"],
                "operationId": "change_thing",
                "summary": "Change a thing",
                "description": "Not 409 `thing_is_stuck`, `thing_is_old`; 422 `thing_is_odd`.",
                "x-events": ["thing.updated"],
                "security": [{"BusinessToken": []}, {"PartnerKey": []}],
                "parameters": [
                    {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {"$ref": "#/components/schemas/ThingCreate"},
                            "examples": {"one": {"value": {"name": "a", "size": 2}}},
                        }
                    },
                },
                "responses": {
                    "200": {
                        "description": "Changed.",
                        "content": {
                            "application/json": {
                                "schema": {"$ref": "#/components/schemas/Thing"},
                                "example": {"name": "a", "note": None},
                            }
                        },
                    },
                    "404": {"description": "No thing: `thing_not_found`.", **REFUSAL},
                    "409": {
                        "description": "Like `thing_is_big`, as listed\nat the operation.",
                        **REFUSAL,
                    },
                    "default": {"description": "500 `thing_is_broken`."},
                },
            },
        }
    },
    "components": {
        "x-error-codes": CODES,
        "x-event-types": {"thing.updated": "It changed.", "thing.late": "Its day has passed."},
        "examples": {
            "Stuck": {"value": {"error_code": "thing_is_stuck", "message": "It is stuck."}},
            "StuckToo": {"value": {"error_code": "thing_is_stuck", "message": "So is this."}},
        },
        "parameters": {
            "ThingId": {
                "name": "thing_id",
                "in": "path",
                "required": True,
                "description": "Which one.",
                "schema": {"type": "string", "format": "uuid"},
            }
        },
        "schemas": {
            "Base": {
                "type": "object",
                "required": ["id"],
                "properties": {"id": {"type": "string", "format": "uuid"}},
            },
            "Thing": {
                "description": "A thing.",
                "allOf": [
                    {"$ref": "#/components/schemas/Base"},
                    {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string", "nullable": True},
                            "parts": {
                                "type": "array",
                                "maxItems": 500,
                                "items": {"$ref": "#/components/schemas/Thing"},
                            },
                        },
                    },
                ],
            },
            "ThingCreate": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "minLength": 1, "maxLength": 255},
                    "size": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 2},
                    "colour": {"allOf": [{"$ref": "#/components/schemas/Colour"}]},
                    "deep": {"type": "object", "properties": {"x": {"type": "boolean"}}},
                    "any": {"description": "Whatever."},
                },
            },
            "Colour": {"type": "string", "enum": ["red", "blue"]},
            "ErrorCode": {
                "type": "string",
                "enum": [*CODES],
            },
        },
    },
}
SOURCE = orjson.dumps(DOCUMENT)
