"""The Java client of openapi-generator, where a JDK and its libraries are installed."""

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
    """A client in Java, compiled with the calls beside it."""

    checked: ClassVar[str] = "compiled"

    def check(self, programs: Path) -> int:
        """Compile the client and its calls; return the number of files."""
        sources = [str(file) for file in self.folder.glob("src/main/**/*.java")]
        words = ("-nowarn", "-d", self.classes, "-cp", self.libraries(programs))
        run("javac", *words, *sources, JOURNEYS / self.journey)
        return len(sources)

    def call(self, programs: Path, caller: list[str]) -> str:
        path = os.pathsep.join((str(self.classes), self.libraries(programs)))
        return run("java", "-cp", path, Path(self.journey).stem, *caller)

    @property
    def classes(self) -> Path:
        """The folder of the compiled classes."""
        return self.folder / "classes"

    def libraries(self, programs: Path) -> str:
        """Return the class path of the needed libraries."""
        return os.pathsep.join(map(str, (*programs.parent.glob(GENERATOR), *JARS)))

    def missing(self) -> str:
        """Return the name of a missing program or library, or an empty text."""
        lacking = [tool for tool in ("javac", "java") if shutil.which(tool) is None]
        return ", ".join([*lacking, *(jar.name for jar in JARS if not jar.exists())])


JAVA: Final = JavaClient(
    name="openapi-generator, java",
    journey="Journey.java",
    words=(
        *GENERATE,
        *("--config", "server/docs/reference/generators/openapi-generator.yaml"),
    ),
)
