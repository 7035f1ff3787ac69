"""The script that is read from a reply with several candidates is the one that a person would choose."""

from __future__ import annotations

from html import escape
from json import dumps
from pathlib import Path
from textwrap import indent
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.flow.reading.readers import read_opinion, read_text
from pipeline.flow.reading.script_reader import read_script
from pipeline.types import Opinion, ReadingOutcome, Reply

F = "```"
STARTER = Path(__file__).parents[3] / "catalog" / "starter"
REAL = "#!/bin/bash\nset -eu\ngzip /srv/logs/*.1\n"
DRAFT = "rm -rf /srv/logs\n"
LONG = "".join(f"./compress.sh /srv/logs/app-{number}\n" for number in range(9))
INSTALL, OUTPUT = "apt-get install -y gzip\n" * 9, "ok\n" * 9
NAMED, WRITER = f"# zip.sh\n{REAL}", f"cat > zip.sh <<E\n{REAL}E\nchmod +x zip.sh\n{DRAFT}"


def block(script: str, language: str = "bash") -> str:
    return f"{F}{language}\n{script.rstrip()}\n{F}\n"


LOOP = '#!/bin/bash\nfor f in *; do\n  [ -d "$f" ] && du -s "$f" > /tmp/sizes\ndone\n'
WRITES = f"#!/bin/bash\ncat > x <<E\n{REAL}This is the end.\nE\n"
NUMBERED = "".join(f"{at}  {line}\n" for at, line in enumerate(REAL.splitlines(), 1))
FIND, PART = "find /srv/logs -mtime +7", "#!/bin/bash\nD=/srv\n"
SLIP = '#!/bin/bash\nx=$(( 1 + ))\nls -l "$x"\n'
ELIDED = "#!/bin/bash\n# ... (rest unchanged)\nls\n"
LS, START = block("ls"), "<|start|>assistant<|channel|>"
ONE, TWO = block("nginx -t\n"), block("systemctl reload nginx\n")
BOTH = "nginx -t\nsystemctl reload nginx\n"
SCRIPT, FIXED = block(REAL), block(REAL.replace("*.1", "*.2"))
# What is to be read from each reply; None if it does not say which block is the script.
REPLIES: dict[str, tuple[str, str | None]] = {
    "no opening tag": (f"I could do\n{block(DRAFT)}but no.\n</think>\n{LS}", "ls\n"),
    "no opening tag, draft not closed": (f"{F}bash\n{DRAFT}</think>\n\n{LS}", "ls\n"),
    "tag after the last word": (f"{block(REAL)}Too much.</think>{LS}", "ls\n"),
    "two thoughts": (f"<think>a</think>{block(DRAFT)}<think>No!</think>\n{LS}", "ls\n"),
    "draft as an object": (f'{{"script": "{DRAFT.strip()}"}}</think>{{"script": "ls"}}', "ls"),
    "thinking not ended": (f"Sure.\n<think>\n{block(DRAFT)}Or rather", None),
    "answer, then thinking not ended": (f"{block(DRAFT)}\n<think>\nWait, that deletes all", None),
    "nothing after the thinking": (f"{block(DRAFT)}</think>\n", None),
    "other tags": (f"{block(DRAFT)}[/THINK]\n{LS}", "ls\n"),
    "tag in a script": (block("sed 's,.*</think>,,' log\n"), "sed 's,.*</think>,,' log\n"),
    "tag in a here-document": (block("cat <<E\n</think>\nE\ndf"), "cat <<E\n</think>\nE\ndf\n"),
    "tag in a string of lines": (block('x="<think>\nno\n</think>"\nls'), 'x="<think>\nno\n</think>"\nls\n'),
    "tag named in the text": (f"{LS}It keeps what follows `</think>`.", "ls\n"),
    "final channel": (
        f"<|channel|>analysis<|message|>{block(DRAFT)}<|end|>{START}final<|message|>{LS}<|return|>", "ls\n"),
    "commentary and a constrained final": (
        f"<|channel|>analysis<|message|>Hm.<|end|>{START}commentary<|message|>{SCRIPT}<|end|>{START}final "
        '<|constrain|>json<|message|>{"script": "ls"}', "ls"),
    "first token swallowed": (f"analysis<|message|>{SCRIPT}<|end|>{START}final<|message|>{LS}", "ls\n"),
    "no final channel": (f"<|channel|>analysis<|message|>{SCRIPT}<|end|>", None),
    "special tokens dropped": (f"analysisWe could {block(DRAFT)}No.assistantfinal{LS}", "ls\n"),
    "longer usage": (f"{SCRIPT}\n## Usage\n{block(LONG)}", REAL),
    "longer installation first": (f"Install it:\n{block(INSTALL)}\n{SCRIPT}", REAL),
    "shebang without a language": (f"Save this:\n{block(REAL, '')}\nRun it:\n{block(LONG)}", REAL),
    "shebang in a block of text": (f"{block(REAL, 'text')}{block(LONG)}", REAL),
    "shebang after a comment": (f"{block(NAMED)}{block(LONG)}", NAMED),
    "installer that writes a shebang": (f"{SCRIPT}\nInstall:\n{block(WRITER)}", REAL),
    "script given twice": (f"{SCRIPT}Once more:\n{SCRIPT}", REAL),
    "corrected": (f"{FIXED}Oops, or so I thought. Corrected:\n{SCRIPT}", REAL),
    "complete at the end": (f"{FIXED}Putting it all together:\n{SCRIPT}", REAL),
    "original for reference": (f"The fixed script:\n{SCRIPT}The original script was:\n{FIXED}", REAL),
    "correction without a shebang": (f"{block(DRAFT)}Wait, a mistake. Fixed:\n{LS}", "ls\n"),
    "shebang in a block, scrap in an object": (f'{SCRIPT}Output:\n{{"script": "<script>ls"}}', REAL),
    "two scripts": (f"backup.sh:\n{SCRIPT}restore.sh:\n{FIXED}", None),
    "improved alternative": (f"{SCRIPT}Alternatively, an improved script:\n{FIXED}", None),
    "usage never closed": (f"{SCRIPT}Usage:\n{F}bash\n{LONG}", REAL),
    "correction never closed": (f"{SCRIPT}Corrected:\n{F}bash\n{LONG}", None),
    "script outside, usage in a block": (f"Here:\n\n{REAL}\nUsage:\n{block(LONG)}", REAL),
    # Steps
    "numbered list": (f"1. Test:\n{ONE}2. Reload if the test passes:\n{TWO}", BOTH),
    "numbered headings": (f"### Step 1: test\n{ONE}\n### Step 2: reload\n{TWO}", BOTH),
    "numbered in words": (f"First, test:\n{ONE}\nSecond, reload:\n{TWO}", BOTH),
    "numbered comments": (block("# Step 1\nls\n") + block("# Step 2\ndf\n"), "# Step 1\nls\n# Step 2\ndf\n"),
    "indented in a list": ("1. Test\n   ```sh\n   ls\n   ```\n2. Then\n   ```bash\n   df\n   ```\n", "ls\ndf\n"),
    "steps and a usage": (f"1. Write:\n{TWO}2. Make it executable:\n{block('chmod +x r.sh')}"
        f"3. Run the script:\n{block('./r.sh')}", "systemctl reload nginx\n"),
    "words of a correction in a step": (
        f"1. Check before stopping the old version:\n{ONE}2. Start the final version:\n{TWO}", BOTH),
    "the same without numbers": (f"Stop the old version:\n{ONE}Start the final version:\n{TWO}", None),
    "step in a bare block": (f"1. Test:\n{ONE}2. Reload:\n{block('df', '')}", None),
    "call in a bare block": (f"1. Save this:\n{ONE}2. Run it:\n{block('./x.sh', '')}", "nginx -t\n"),
    "not numbered": (f"Test:\n{ONE}Then reload:\n{TWO}", None),
    "or": (f"1. Reload:\n{TWO}Or\n2. Test:\n{ONE}", None),
    "numbered alternatives": (f"1. Using df:\n{ONE}2. Using a loop:\n{TWO}", None),
    "ways": (f"There are two ways.\n1. Test:\n{ONE}2. Reload:\n{TWO}", None),
    "fallback": (f"1. Test:\n{ONE}2. If needed:\n{TWO}", None),
    "step by hand": (f"1. Test:\n{ONE}2. Edit the file.\n3. Reload:\n{TWO}", None),
    "step in another language": (f"1. Save:\n{block('a: 1', 'yaml')}2. Test:\n{ONE}3. Go:\n{TWO}", None),
    "two shells": (f"1. Test:\n{ONE}2. Reload:\n{block('df', 'zsh')}", None),
    "output": (f"{ONE}Expected output:\n{block(OUTPUT)}", "nginx -t\n"),
    "final object": ('Draft: {"script": "rm -r /srv"}\nFinal answer: {"script": "ls"}', "ls"),
    "two objects": ('{"script": "ls -l /srv"}\nCorrected:\n{"script": "ls"}', "ls"),
    # Prompts
    "prompts": (block("$ nginx -t\n$ systemctl reload nginx\n"), BOTH),
    "prompts of a host": (block("root@web:/etc# nginx -t\n\nroot@web:~# df\n"), "nginx -t\n\ndf\n"),
    "root's prompts in a console": (block("# nginx -t\n# df\n", "console"), "nginx -t\ndf\n"),
    "continued": (block("# Both\n$ ls \\\n  -l\n$ for x in a; do\n>   df\n> done\n"),
        "# Both\nls \\\n  -l\nfor x in a; do\n  df\ndone\n"),
    "root's prompts and an output": (block("# nginx -t\nok\n# df", "console"), None),
    "here-document": (block("$ cat <<E\n$ x\nE\n$ ls\n"), "cat <<E\n$ x\nE\nls\n"),
    "output between": (block("$ nginx -t\nsyntax is ok\n$ df\n", "console"), "nginx -t\ndf\n"),
    "prompt in a script": (block("cat <<E\n$ ls\nE\n"), "cat <<E\n$ ls\nE\n"),
    "console without a prompt on a continuation": (block("$ if true; then\n  df\nfi\n", "none"),
        "if true; then\n  df\nfi\n"),
    "output in a block of Bash": (block("$ ls /srv\nlogs\n$ df\n"), None),
    "line numbers": (block(NUMBERED), REAL),
    "line numbers with a gap": (block("1 ls /srv\n2 df -h\n4 rm -r /srv\n"), None),
    # Without a whole fence
    "prose around": (f"Here:\n\n{REAL}\nThis script compresses the logs.", REAL),
    "prose in small letters": (f"sure\n\n{REAL}\nthis will compress all of the logs.", REAL),
    "prose in a here-document": (f"{WRITES}\nIt writes a script.", WRITES),
    "prose, then more of the script": (f"{REAL}\nThen append this to the end:\n\n{DRAFT}", None),
    "incomplete": ("Here:\n\n#!/bin/bash\nif true; then\n\nThis is all.", None),
    "residue of a web page": (f"Sure:\n\nbash\nCopy code\n{REAL}\nExplanation:\n\nIt compresses.", REAL),
    "indented": (f"Here:\n\n{indent(REAL, '    ')}\nIt compresses the logs.", REAL),
    "two outside": (f"backup.sh:\n\n{REAL}\nrestore.sh:\n\n#!/bin/bash\nls\n", None),
    "fence not closed": (f"{F}bash\n{REAL}", REAL),
    "fence not closed, words": (f"{F}bash\n{REAL}\nThis compresses the logs.", REAL),
    "fence not closed, last line cut": (f"{F}bash\n{REAL.rstrip()}", None),
    "fence not closed before the next": (f"{F}bash\n{REAL}\nUsage:\n{block(LONG)}", REAL),
    "fence glued to the last line": (f"{F}\n{REAL.rstrip()}{F}\n\nIt compresses.\n{LS}", REAL),
    "words after the fence": (f"{F}bash\n{REAL}{F} This script compresses the logs.\n", REAL),
    "HTML": (f"<p>x</p><pre><code>{escape(LOOP)}</code></pre>", f"{LOOP}"),
    "whole answer as Markdown": (f"{F}markdown\n# Logs\n\n{SCRIPT}\nRun it:\n{LS}{F}\n", REAL),
    "object under another key": ('{"code": "#!/bin/bash\\nls\\n"}', "#!/bin/bash\nls\n"),
    "invented turn": (f"{SCRIPT}Done.<|im_end|>\n<|im_start|>user\nMore<|im_end|>\n{FIXED}", REAL),
    "invented turn in words": (f"{SCRIPT}\nUser: more\n\nAssistant: {FIXED}", REAL),
    # Without a shebang and a block
    "command between prose": (f"Use find:\n\n{FIND}\n\nIt lists the old logs.", FIND),
    "command in a question": (f"Do you mean this?\n\n{FIND}", None),
    "two commands apart": (f"First:\n\n{FIND}\n\nThen:\n\nls -l /srv", None),
    "inline code": (f"Run:\n\n`{FIND}`\n\nThe files are in `/srv`, see `-mtime`.", FIND),
    "two commands inline": (f"Run `{FIND}` or `ls -l /srv`.", None),
    "warning inline": ("Never run `rm -rf /srv/logs`.", None),
    # Several blocks
    "alternative": (f"{SCRIPT}Alternatively, if you want the ages:\n{FIXED}", REAL),
    "recommended in a heading": (f"### Option 1\n{FIXED}### Option 2 (recommended)\n{SCRIPT}", REAL),
    "recommended by number": (f"Option 1:\n{FIXED}Option 2:\n{SCRIPT}I'd go with option 2.", REAL),
    "recommended on a condition": (f"A:\n{FIXED}B:\n{SCRIPT}Use option B if you can.", None),
    "options": (f"Option 1:\n{FIXED}Option 2:\n{SCRIPT}", None),
    "parts": (f"1. Set:\n{block(PART)}2. Go:\n{block('ls $D')}", f"{PART}ls $D\n"),
    "parts without numbers": (f"Set:\n{block(PART)}Go:\n{block('ls $D')}", None),
    "quotations of the command": (f"{block(FIND)}Where:\n{block('-mtime +7')}is the age", f"{FIND}\n"),
    "rest left out": (f"{SCRIPT}Or change it:\n{block(ELIDED)}", REAL),
    # Halves, and what is no part of the script
    "continued in a block": (f"{block(PART)}(continued, append to the same file)\n{ONE}", f"{PART}nginx -t\n"),
    "continued after another block": (f"{SCRIPT}Usage:\n{LS}The rest of the script:\n{ONE}", None),
    "line of another file": (f"{SCRIPT}Add this to the end of the crontab:\n{block('0 3 * * * /x')}", REAL),
    "end of a string missing": (block('#!/bin/bash\nls\necho "$HO'), None),
    "end of a loop missing": (block(LOOP.replace("done\n", "")), None),
    "slip of the grammar": (block(SLIP), SLIP),
    "notes in the block": (block(f"{REAL}\n### Notes\n\nIt needs **gzip** (see its manual)."), REAL),
    "apology as comments": (block("# I'm sorry, I can't do that.\necho \"I can't do that.\"\n"), None),
    "unusual blanks": (block("\ufeff" + LOOP.replace("  ", "\xa0 ").replace("do\n", "do\u200b\n")), LOOP),
    "comment first": (f"Sure! Like this:\n\n# Old logs\nD=/srv\n{FIND}\n\nNote: it is slow.",
        f"# Old logs\nD=/srv\n{FIND}"),
    "YAML": (f"{F}yaml\nshell: bash\nscript: |\n{indent(LOOP, '  ')}notes: none\n{F}", LOOP),
    "CDATA": (f"<script><![CDATA[\n{LOOP}]]></script>\n<risk>low</risk>", LOOP),
    "listing": ("The script:\n\n" + NUMBERED.replace("  ", " | ") + "\nLine 3 compresses.", REAL),
    "string of JSON": (dumps(LOOP), LOOP),
    "user's script first": (f"You wrote:\n{FIXED}It fails. Fixed:\n{SCRIPT}A test for it:\n{FIXED}", REAL),
    "call of another language": (f"{block('print(1)', 'python')}Run:\n{block('python3 x.py /srv')}", None),
}  # fmt: skip


@pytest.mark.parametrize("name", REPLIES)
def test_script_of_an_odd_reply_is_the_one_a_person_would_choose(name: str) -> None:
    text, script = REPLIES[name]
    reading = read_script(Reply(text))
    assert (reading.script or None) == script
    # Without a script, the model must be asked again.
    assert script or reading.outcome in (ReadingOutcome.UNPARSED, ReadingOutcome.EMPTY)


@pytest.mark.slow
def test_script_of_the_starter_catalogue_is_never_read_in_part() -> None:
    scripts = [path.read_text(encoding="utf-8") for path in STARTER.glob("*/script.sh")]
    asked_again = 0
    for script in (script for script in scripts if F not in script):
        for reply in (
            f"Here:\n\n{script}\n**Notes:**\n- It runs as root.\n",
            f"{script}\nThis script does what you asked for.",
            f"{F}bash\n{script}",
            f"{F}bash\n{script}{F}\n\nUser: more\n{SCRIPT}",
        ):
            read = read_script(Reply(reply)).script
            assert read.strip() in ("", script.strip())
            asked_again += not read
    assert asked_again <= len(scripts) / 10


@settings(max_examples=40)
@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    at=st.integers(0, 4),
    word=st.sampled_from(["Usage:", "Install jq first:", "1. Save it", "Or:", ""]),
)
def test_length_and_place_of_other_blocks_never_matter(
    lengths: list[int], at: int, word: str
) -> None:
    parts = [f"{word}\n{block('apt-get install -y jq;' * n)}" for n in lengths]
    parts.insert(at, f"The script:\n{SCRIPT}")
    assert read_script(Reply("\n".join(parts))).script == REAL


def test_verdict_before_the_end_of_the_thinking_does_not_count() -> None:
    text = '{"verdict": "mismatch"}\nNo.</think>\n{"verdict": "match", "reason": "ok"}'
    assert read_opinion(Reply(text)).opinion is Opinion.MATCH
    assert read_text(Reply("Hm.</think>It lists files."), "functionality").text == "It lists files."


@pytest.mark.slow
def test_long_reply_without_a_clear_script_is_read_quickly() -> None:
    many = 20_000
    replies = {
        "calls": f"{ONE}Usage:\n{F}bash\n{'./x' * many}{chr(10) * many}x\n{F}",
        "words": f"{ONE}{'will see whole ' * many}{' ' * many}x\n{TWO}",
        "tags": f"{F}bash\n" + "a </think>\ncat <<E\n" * many + F,
        "here-documents": f"{F}bash\n" + "cat <<E " * 3 * many + f"\n{F}",
        "sentences": "#!/bin/bash\nif true; then\n" + "This is the end of it.\n" * many,
        "steps": "".join(f"{number}. Go\n{ONE}" for number in range(many // 8)),
    }
    for name, text in replies.items():
        start = process_time()
        read_script(Reply(text))
        assert process_time() - start < 2, name
