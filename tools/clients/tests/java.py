"""The client that openapi-generator makes for Java, where a JDK and its libraries are at hand."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from tools.clients.tests.generators import GENERATE, JOURNEYS, Client, run

# Debian's libhttpmime-java and libgeronimo-annotation-1.3-spec-java bring these. Jackson is in the
# generator's own jar.
JARS: Final = tuple(
    Path("/usr/share/java") / f"{name}.jar"
    for name in ("httpclient", "httpcore", "httpmime", "geronimo-annotation-1.3-spec")
)
GENERATOR: Final = "lib/*/site-packages/openapi_generator_cli/openapi-generator.jar"


@dataclass(frozen=True, slots=True)
class JavaClient(Client):
    """All its files are compiled, and its calls beside them."""

    checked: ClassVar[str] = "compiled"

    def check(self, programs: Path) -> int:
        """Compile all of it and its calls; count the files."""
        sources = [str(file) for file in self.folder.glob("src/main/**/*.java")]
        words = ("-nowarn", "-d", self.classes, "-cp", self.libraries(programs))
        run("javac", *words, *sources, JOURNEYS / self.journey)
        return len(sources)

    def call(self, programs: Path, caller: list[str]) -> str:
        """Let it make its calls; return what it printed."""
        path = os.pathsep.join((str(self.classes), self.libraries(programs)))
        return run("java", "-cp", path, Path(self.journey).stem, *caller)

    @property
    def classes(self) -> Path:
        """Where it is compiled to."""
        return self.folder / "classes"

    def libraries(self, programs: Path) -> str:
        """Return the path of all that it needs."""
        return os.pathsep.join(map(str, (*programs.parent.glob(GENERATOR), *JARS)))

    def missing(self) -> str:
        """Name what it cannot be compiled without here; nothing where all is at hand."""
        lacking = [tool for tool in ("javac", "java") if shutil.which(tool) is None]
        return ", ".join([*lacking, *(jar.name for jar in JARS if not jar.exists())])


# As it comes it sends a list that was left out as an empty one, and needs a library for null.
JAVA: Final = JavaClient(
    name="openapi-generator, java",
    journey="Journey.java",
    words=(
        *GENERATE,
        *("-g", "java", "--library", "native", "--additional-properties"),
        "containerDefaultToNull=true,openApiNullable=false,useSingleRequestParameter=true",
    ),
)
