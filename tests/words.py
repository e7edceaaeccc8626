"""A check for plain words in docstrings, comments and names, by the rules of docs/writing.md.

`python -m tests.words [FOLDER ...]` prints each breach with its file and line, then their number.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
ROOMS: Final = (
    "access", "accounting", "cli", "handlers", "jobs", "libraries/bank_files",
    "libraries/embedded", "libraries/pdf_files", "openapi", "persistence", "server", "tests",
    "tools/bench", "tools/clients", "tools/mcp", "tools/verify",
)  # fmt: skip
MOST_WORDS: Final = 25
# The first word of a function's docstring.
VERBS: Final = frozenset(
    """
    Abort Accept Acquire Add Adjust Admit Advance Allocate Allow Analyze Answer Append Apply Approve
    Archive Ask Assert Assign Attach Attribute Authenticate Backfill Begin Bind Block Book Build
    Cache Calculate Call Cancel Change Check Choose Classify Clean Clear Close Collect Combine
    Commit Compare Compile Complete Compress Compute Configure Confirm Connect Consume Continue
    Convert Copy Correct Count Create Credit Cut Debit Decide Decode Decrypt Deduct Define Delay
    Delete Deliver Deny Derive Describe Detach Detect Determine Digest Disable Discard Disconnect
    Dispatch Display Distribute Divide Download Drain Draw Drop Emit Enable Encode Encrypt End
    Ensure
    Enter Escape Estimate Exclude Execute Exit Expire Explain Export Extend Extract Fail Feed Fetch
    Fill Filter Find Finish Fix Flush Fold Follow Forget Fork Format Forward Generate Get Grant
    Group Guess Handle Hash Hide Hold Ignore Import Include Increment Indent Index Inject
    Insert Install Invalidate Invert Invoice Issue Iterate Join Keep Label Lay Leave Limit Link List
    Listen Load Lock Log Look Make Map Mark Match Measure Merge Migrate Mount Move Multiply Name
    Negate Net Normalize Note Notify Number Offer Omit Open Order Override Own Pack Parse Partition
    Pass Patch Pay Perform Pick Pin Place Plan Poll Populate Post Predict Prepare Preview Print
    Process Produce Project Prompt Propose Prove Provide Publish Pull Push Put Queue Quote Raise
    Randomize Read Rebuild Recalculate Receive Recode Reconcile Record Recover Redact Reduce Refresh
    Refund Refuse Register Reject Relay Release Reload Remember Remove Rename Render Renew Reopen
    Repeat Replace Replay Reply Report Represent Request Require Reserve Reset Resolve Respond
    Restart Restore Restrict Retry Return Reuse Reverse Revert Revoke Rewrite Roll Rotate Round
    Route Run Save Scale Scan Schedule Score Seal Search Seed Select Send Separate Serialize Serve
    Set Settle Share Show Shift Shorten Shut Sign Simulate Skip Sleep Snapshot Sort Spawn Split
    Spread Stage Start Stop Store Stream Strip Submit Subtract Suggest Sum Summarize Supply Suspend
    Swap Switch Sync Tag Take Tax Terminate Test Throw Time Toggle Total Trace Track Transfer
    Translate Traverse Trim Truncate Try Turn Unarchive Undo Unlink Unlock Update Upgrade Upload Use
    Validate Verify Void Wait Walk Warn Watch Withdraw Withhold Wrap Write Yield
    """.split()  # noqa: SIM905
)
# A property or a fixture may name its value.
NOUN_STARTS: Final = frozenset({"A", "An", "The", "True", "None"})
# No docstring begins with these.
RIDDLES: Final = frozenset(
    """
    About After All Among As At Before Behind Beside Between By Did Do Does For From How If In It
    Its No Nobody Nothing Of On One Our Out Over Said Since So Some Somebody Something Such Tell
    Tells Say Says That There These They This Those Till To Until What Whatever When Where Wherever
    Whether Which Who Whoever Whom Whose Why With Within Without Let Lets Give Gives Be Has Have
    Hear Hears Stand Stands See
    """.split()  # noqa: SIM905
)
PHRASES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bof before\b",
        r"\bc(o|a)mes? along\b",
        r"\b(say|says|said|tell|tells|told|hear|hears|heard) of\b",
        r"\bstands? (in|at|on|for|with|there|beside|behind|as|by|below|above|what)\b",
        r"\bwhat (\w+ ){1,4}of (it|them)\b",
        r"\bof which (it|they|there)\b",
        r"\bnothing of (it|them|that|what)\b",
        r"\bwhat there is of\b",
        r"\bwhoever\b",
        r"\b\w+n't\b",
        r"\b(it|that|there|what|who|he|she)'s (a|an|the|not|no|been|\w+ing|\w+ed)\b",
    )
)
PARTICIPLE: Final = re.compile(r"_?[A-Z][a-z]*(ed|ing)")
IRREGULAR: Final = frozenset(
    """
    Bound Built Cut Found Given Grown Heard Held Hidden Kept Known Laid Left Lent Made Met Paid Put
    Read Said Seen Sent Shown Shut Split Spent Stood Sold Taken Told Understood Unshown Won Written
    """.split()  # noqa: SIM905
)
NOUNS: Final = frozenset(
    """
    Banking Billing Bookkeeping Embedded Feed Heading Listing Meaning Need Opening Parsing Pricing
    Rounding Routing Seed Setting Timing Aging Posting Accounting Voiding Created Keyring Outdated
    """.split()  # noqa: SIM905
)


def complaints(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each breach in one module."""
    source = path.read_text()
    tree = ast.parse(source)
    yield from _of_module_name(path)
    for node in _statements(tree):
        if isinstance(node, ast.ClassDef):
            yield from _of_class_name(node)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _of_docstring(node)
        if isinstance(node, ast.Module | ast.ClassDef):
            yield from _of_attribute_docstrings(node)
    yield from _of_comments(source)


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield a module and its statements at every depth; an expression holds no definition."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, name, ())


def _of_module_name(path: Path) -> Iterator[tuple[int, str]]:
    if path.stem.endswith("ing") and path.stem.title() not in NOUNS and "_" not in path.stem:
        yield 1, f"the module is named by a gerund: {path.stem}"


def _of_class_name(node: ast.ClassDef) -> Iterator[tuple[int, str]]:
    bare = node.name.lstrip("_")
    if bare in NOUNS:
        return
    if bare in IRREGULAR or PARTICIPLE.fullmatch(node.name):
        yield node.lineno, f"the class is named by a participle: {node.name}"


def _of_docstring(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[tuple[int, str]]:
    text = ast.get_docstring(node)
    if not text:
        return
    line = 1 if isinstance(node, ast.Module) else node.lineno
    first = re.split(r"[\s,:;.]", text, maxsplit=1)[0]
    sentence = re.split(r"(?<=[.!?])\s", text.split("\n\n")[0], maxsplit=1)[0]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        if first not in VERBS and not (_names_a_value(node) and first in NOUN_STARTS):
            yield line, f"{node.name} begins with {first!r}: {text.splitlines()[0]}"
    elif first in RIDDLES:
        name = "the module" if isinstance(node, ast.Module) else node.name
        yield line, f"{name} begins with {first!r}: {text.splitlines()[0]}"
    if len(sentence.split()) > MOST_WORDS:
        yield line, f"the first sentence has over {MOST_WORDS} words: {text.splitlines()[0]}"
    yield from ((line, complaint) for complaint in _of_phrases(text))


def _of_attribute_docstrings(node: ast.Module | ast.ClassDef) -> Iterator[tuple[int, str]]:
    for before, each in pairwise(node.body):
        if not isinstance(before, ast.Assign | ast.AnnAssign):
            continue
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
            text = str(each.value.value)
            first = text.split(maxsplit=1)[0]
            if first in RIDDLES:
                yield each.lineno, f"begins with {first!r}: {text.splitlines()[0]}"
            yield from ((each.lineno, complaint) for complaint in _of_phrases(text))


def _names_a_value(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = {ast.unparse(each).split("(")[0].split(".")[-1] for each in node.decorator_list}
    return bool(names & {"property", "cached_property", "fixture"})


def _of_comments(source: str) -> Iterator[tuple[int, str]]:
    # A comment is a part of this: most modules need not be divided into tokens.
    behind = "\n".join(line.partition("#")[2] for line in source.split("\n"))
    if not any(_of_phrases(behind)):
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield from ((token.start[0], each) for each in _of_phrases(token.string))


def _of_phrases(text: str) -> Iterator[str]:
    for phrase in PHRASES:
        found = phrase.search(text)
        if found:
            yield f"{found[0]!r} in: {' '.join(text.split())[:90]}"


def modules(folders: Sequence[str] = ROOMS) -> list[Path]:
    """Return the tracked modules below some folders."""
    listed = subprocess.check_output(["git", "ls-files", "--", *folders], cwd=ROOT, text=True)
    paths = [ROOT / line for line in listed.splitlines() if line.endswith(".py")]
    return [path for path in paths if path.exists() and not path.is_symlink()]


def main(folders: Sequence[str]) -> int:
    """Print all breaches below some folders; return 1 if there is one."""
    total = 0
    for path in modules(folders or ROOMS):
        for line, text in complaints(path):
            total += 1
            sys.stdout.write(f"{path.relative_to(ROOT)}:{line}: {text}\n")
    sys.stdout.write(f"{total} breaches\n")
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
