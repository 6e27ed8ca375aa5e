"""What is said of how an action went: only what its result says."""

# ruff: noqa: E501, RUF001 - lines of tools are long, and have signs of their own

from __future__ import annotations

import json

import pytest

from compact.history.outcomes.later import mended
from compact.history.outcomes.outcome import Outcome, Verdict
from compact.history.reading import Reading, read
from tests.summaries.talks import Wire, anthropic, chat, ran, used, user

OK, FAILED, REFUSED, UNKNOWN = Verdict.OK, Verdict.FAILED, Verdict.REFUSED, Verdict.UNKNOWN


def outcome_of(command: str, answer: str, *, error: bool = False) -> Outcome:
    """What came of the command itself, not of files that it writes beside."""
    actions = read(anthropic(user("Go."), *used("Bash", {"command": command}, answer, error=error))).actions
    return next(action.outcome for action in actions if action.is_command)


def called(name: str, arguments: Wire, answer: str, *, error: bool = False) -> Outcome:
    return read(anthropic(user("Go."), *used(name, arguments, answer, error=error))).actions[0].outcome


def session(*steps: tuple[str, str]) -> Reading:
    """Commands with their outputs."""
    wires = [wire for number, (command, answer) in enumerate(steps) for wire in _step(number, command, answer)]
    return read(chat(user("Go."), *wires))


def _step(number: int, command: str, answer: str) -> list[Wire]:
    return ran("bash", {"command": command}, answer, id=f"c{number}")


@pytest.mark.parametrize(
    ("command", "answer", "kind", "text"),
    [
        # pytest, with and without -q
        ("pytest", "===== 12 passed in 0.31s =====", OK, "12 passed"),
        ("pytest -q", "............\n12 passed, 2 skipped in 0.31s", OK, "12 passed, 2 skipped"),
        (
            "pytest 2>&1 | tail -5",
            "FAILED tests/test_cart.py::test_total - assert 3 == 4\nFAILED tests/test_cart.py::test_empty\n===== 2 failed, 12 passed in 0.50s =====",
            FAILED,
            "2 failed, 12 passed\ntests/test_cart.py::test_total - assert 3 == 4\ntests/test_cart.py::test_empty",
        ),
        ("python -m pytest -q tests | tail -3", "1 failed, 3 passed in 0.08s", FAILED, "1 failed, 3 passed"),
        ("pytest", "collected 0 items / 1 error\n\n!!!!!! Interrupted: 1 error during collection !!!!!!", FAILED, "Interrupted: 1 error during collection"),
        ("pytest | head", "ImportError while loading conftest '/x/conftest.py'.\nE   ModuleNotFoundError: No module named 'yaml'", FAILED, "ImportError while loading conftest '/x/conftest.py'.\nModuleNotFoundError: No module named 'yaml'"),
        ("python -m pytest tests | tail -20", "/usr/bin/python: No module named pytest", FAILED, "/usr/bin/python: No module named pytest"),
        # unittest
        ("python -m unittest", "...\n-----\nRan 3 tests in 0.001s\n\nOK", OK, "Ran 3 tests in 0.001s OK"),
        ("python runtests.py | tail", "FAIL: test_login (auth.tests.LoginTest)\n-----\nRan 3 tests in 0.1s\n\nFAILED (failures=1)", FAILED, "FAILED (failures=1)\ntest_login (auth.tests.LoginTest)"),
        # jest, vitest, mocha, bun
        ("npx jest", "Test Suites: 1 passed, 1 total\nTests:       4 passed, 4 total", OK, "Tests: 4 passed, 4 total"),
        ("npx jest | cat", "  ● cart › adds an item\n\nTests:       1 failed, 3 passed, 4 total", FAILED, "Tests: 1 failed, 3 passed, 4 total\ncart › adds an item"),
        ("npx vitest run", " Test Files  2 passed (2)\n      Tests  5 passed (5)\n   Duration  1.05s", OK, "Tests 5 passed (5)"),
        ("npx vitest run", " FAIL  src/a.test.ts > adds\n Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 4 passed (5)", FAILED, "Test Files 1 failed | 1 passed (2) Tests 1 failed | 4 passed (5)\nsrc/a.test.ts > adds"),
        ("npx mocha", "  cart\n    ✓ adds\n\n  3 passing (12ms)", OK, "3 passing (12ms)"),
        ("npx mocha", "  3 passing (12ms)\n  1 failing\n\n  1) cart\n", FAILED, "3 passing (12ms) 1 failing\ncart"),
        ("bun test", "[warn] Error: no connection\n\n 1319 pass\n 0 fail\n 2884 expect() calls\nRan 1319 tests across 60 files. [957.00ms]", OK, "1319 pass 0 fail"),
        ("bun test", "(fail) cart > adds [0.12ms]\n\n 8 pass\n 1 fail\nRan 9 tests across 2 files.", FAILED, "8 pass 1 fail\ncart > adds"),
        # go, cargo, Maven, Gradle, ctest, rspec
        ("go test ./...", "ok  \tshop/cart\t0.31s\nok  \tshop/user\t(cached)", OK, "ok shop/user (cached) (and 1 more)"),
        ("go test ./... | tail -9", "--- FAIL: TestTotal (0.00s)\n    cart_test.go:9: got 3\nFAIL\nFAIL\tshop/cart\t0.31s\nok  \tshop/user\t0.1s\nFAIL", FAILED, "FAIL shop/cart 0.31s\nTestTotal"),
        ("cargo test", "test result: ok. 9 passed; 0 failed; 0 ignored", OK, "test result: ok. 9 passed; 0 failed"),
        ("cargo test", "test cart::total ... FAILED\n\ntest result: FAILED. 8 passed; 1 failed; 0 ignored", FAILED, "test result: FAILED. 8 passed; 1 failed\ncart::total"),
        ("mvn test | tail", "[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE", FAILED, "Tests run: 4, Failures: 1, Errors: 0, Skipped: 0\nBUILD FAILURE"),
        ("mvn -q verify", "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS", OK, "BUILD SUCCESS"),
        ("./gradlew test", "CartTest > total() FAILED\n\n4 tests completed, 1 failed\n\nBUILD FAILED in 3s", FAILED, "4 tests completed, 1 failed\nCartTest > total()\nBUILD FAILED in 3s"),
        ("ctest", "75% tests passed, 1 tests failed out of 4\n\nThe following tests FAILED:\n\t  2 - cart (Failed)", FAILED, "75% tests passed, 1 tests failed out of 4\ncart"),
        ("rspec", "9 examples, 0 failures", OK, "9 examples, 0 failures"),
        ("rspec", "9 examples, 1 failure\n\nrspec ./spec/cart_spec.rb:9 # adds", FAILED, "9 examples, 1 failure\n./spec/cart_spec.rb:9 # adds"),
        # linters
        ("ruff check .", "All checks passed!", OK, "All checks passed!"),
        ("ruff check . | tail", "a.py:1:1: F401 `os` imported but unused\nFound 1 error.", FAILED, "Found 1 error.\na.py:1:1: F401 `os` imported but unused"),
        ("mypy src", "Success: no issues found in 40 source files", OK, "Success: no issues found in 40 source files"),
        ("eslint src | cat", "  3:1  error  Unexpected var  no-var\n\n✖ 3 problems (1 error, 2 warnings)", FAILED, "3 problems (1 error, 2 warnings)\n3:1 error Unexpected var no-var"),
        ("eslint src", "✖ 2 problems (0 errors, 2 warnings)", OK, "2 problems (0 errors, 2 warnings)"),
        ("golangci-lint run", "0 issues.", OK, "0 issues."),
        ("golangci-lint run", "a.go:1:1: missing comment (revive)\n1 issues:\n* revive: 1", FAILED, "1 issues:\na.go:1:1: missing comment (revive)"),
    ],
)  # fmt: skip
def test_a_run_is_judged_by_its_tools_own_sum(command: str, answer: str, kind: Verdict, text: str) -> None:
    assert outcome_of(command, answer) == Outcome(kind, text)


@pytest.mark.parametrize(
    ("command", "answer", "text"),
    [
        ("make deploy", "cp: x\nmake: *** [Makefile:3: deploy] Error 1", "make: *** [Makefile:3: deploy] Error 1"),
        ("npm run build | tail", "src/a.ts(3,5): error TS2724: no exported member 'x'.\nnpm ERR! code 2", "src/a.ts(3,5): error TS2724: no exported member 'x'."),
        ("npx tsc --noEmit", "src/a.ts:3:5 - error TS2724: '\"./b\"' has no exported member named 'x'.", "src/a.ts:3:5 - error TS2724: '\"./b\"' has no exported member named 'x'."),
        ("cargo build 2>&1 | tail", "error[E0308]: mismatched types\n  --> src/main.rs:3:5\n", "error[E0308]: mismatched types --> src/main.rs:3:5"),
        ("gcc a.c", "a.c:3:5: error: expected ';' before 'return'", "a.c:3:5: error: expected ';' before 'return'"),
        ("javac Cart.java", "Cart.java:3: error: cannot find symbol", "Cart.java:3: error: cannot find symbol"),
        ("go vet ./... | head", "# shop/cart\n./cart.go:9:2: undefined: total", "./cart.go:9:2: undefined: total"),
        ("foo --help", "bash: line 1: foo: command not found", "bash: line 1: foo: command not found"),
        ("rg x | sort", "zsh:1: command not found: rg", "zsh:1: command not found: rg"),
        ("cat a.txt", "cat: a.txt: No such file or directory", "cat: a.txt: No such file or directory"),
        ("./run.sh", "/bin/sh: ./run.sh: Permission denied", "/bin/sh: ./run.sh: Permission denied"),
        ("python app.py | tail -5", 'Traceback (most recent call last):\n  File "app.py", line 3, in <module>\n    main()\nshop.errors.NotReady: no port', "shop.errors.NotReady: no port"),
        ("node app.js", "Error: listen EADDRINUSE\n    at Server.listen (net.js:3:5)\n\nNode.js v20.1.0", "Error: listen EADDRINUSE"),
        ("git merge main", "Auto-merging a.py\nCONFLICT (content): Merge conflict in a.py\nAutomatic merge failed; fix conflicts and then commit the result.", "CONFLICT (content): Merge conflict in a.py\nAutomatic merge failed; fix conflicts and then commit the result."),
        ("git push", "To github.com:x/y\n ! [rejected]        main -> main (non-fast-forward)\nerror: failed to push some refs", "! [rejected] main -> main (non-fast-forward)\nerror: failed to push some refs"),
        ("git show ddfa7c", "fatal: ambiguous argument 'ddfa7c': unknown revision.\nUse '--' to separate paths.\n'git <command>'", "fatal: ambiguous argument 'ddfa7c': unknown revision."),
        ("npm test && tsc", " 9 pass\n 0 fail\nRan 9 tests\nsrc/a.ts(3,5): error TS2724: no exported member 'x'.", "src/a.ts(3,5): error TS2724: no exported member 'x'.\n9 pass 0 fail"),
        ("git checkout nope", "error: pathspec 'nope' did not match any file(s) known to git", "error: pathspec 'nope' did not match any file(s) known to git"),
        ("npm test", '$ bun test src/\nTypeError: x\nerror: script "test" exited with code 1', "TypeError: x"),
        ("sleep 900", "Command timed out after 2m 0s", "timed out after 2m"),
        ("./train", "Killed", "Killed"),
        ("bun run test && bun run lint", ' 9 pass\n 0 fail\nRan 9 tests\nFound 2 errors.\nerror: script "lint" exited with code 1', "Found 2 errors."),
    ],
)  # fmt: skip
def test_a_failure_is_told_by_the_lines_that_decide_it(command: str, answer: str, text: str) -> None:
    assert outcome_of(command, answer) == Outcome(FAILED, text)


@pytest.mark.parametrize(
    ("command", "answer", "kind"),
    [
        # as agents write a status
        ("python a.py", "<returncode>0</returncode>\n<output>\nhello\n</output>", OK),
        ("python a.py", "<returncode>1</returncode>\n<output>\nhello\n</output>", FAILED),
        ("python a.py", "hello\n\nCommand exited with code 2", FAILED),
        ("python a.py", "Exit code 1\nhello", FAILED),
        ("python a.py", "hello\n[The command completed with exit code 1.]", FAILED),
        ("python a.py", "hello\n[exit status: 1]", FAILED),
        ("python a.py", "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nhello", OK),
        ("python a.py", "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nhello", OK),
        ("python a.py", json.dumps({"output": "hello", "metadata": {"exit_code": 1}}), FAILED),
        ("python a.py", json.dumps({"output": "hello", "metadata": {"exit_code": 0}}), OK),
        # what hides it
        ("python a.py | tail -3", "<returncode>0</returncode>\n<output>\nhello\n</output>", UNKNOWN),
        ("python a.py || true", "<returncode>0</returncode>\n<output>\nhello\n</output>", UNKNOWN),
        ("python a.py; echo done", "<returncode>0</returncode>\n<output>\nhello\n</output>", UNKNOWN),
        ("for f in *; do python $f; done", "<returncode>0</returncode>\n<output>\nhello\n</output>", UNKNOWN),
        ("set -o pipefail; python a.py | tail", "<returncode>0</returncode>\n<output>\nhello\n</output>", OK),
        ("cd /srv && FOO=1 python a.py", "<returncode>0</returncode>\n<output>\n</output>", OK),
        ("cat > a.py <<'E'\nprint(1)\nE\npython a.py", "<returncode>0</returncode>\n<output>\n1\n</output>", OK),
        ("python a.py; echo exit: $?", "hello\nexit: 1", FAILED),
        # a status that is an answer
        ("grep -n total a.py", "<returncode>1</returncode>\n<output>\n</output>", UNKNOWN),
        ("pip list | grep numpy", "<returncode>1</returncode>\n<output>\n</output>", UNKNOWN),
        ("diff a b", "<returncode>1</returncode>\n<output>\n1c1\n< x\n---\n> y\n</output>", UNKNOWN),
        ("test -f a.txt", "<returncode>1</returncode>\n<output>\n</output>", UNKNOWN),
        ("find . -name '*.py' | xargs grep -l x", "<returncode>123</returncode>\n<output>\n</output>", UNKNOWN),
        ("grep -n total a.py", "<returncode>2</returncode>\n<output>\ngrep: a.py: No such file or directory\n</output>", FAILED),
        # a program that ends well and says that it did not work
        ("python fix.py", "<returncode>0</returncode>\n<output>\nError: nothing was replaced\n</output>", UNKNOWN),
        ("python check.py", "<returncode>0</returncode>\n<output>\nSome tests failed\n</output>", UNKNOWN),
        ("python check.py", "<returncode>0</returncode>\n<output>\n0 failed\n</output>", OK),
        # words count at the end, where the end is seen
        ("python deploy.py", "Uploading\nDeployed to production", OK),
        ("python deploy.py | head -50", "Uploading\nDeployed to production", UNKNOWN),
        ("go test -v ./... | head -3", "=== RUN TestA\n--- PASS: TestA (0.00s)\n=== RUN TestB", UNKNOWN),
        ("git stash; git rebase main", "Rebasing (1/1)\rSuccessfully rebased and updated refs/heads/x.", OK),
        # silence
        ("rm -rf build", "", UNKNOWN),
        ("go build ./... 2>&1 | head", "", OK),
        ("go build ./... 2>/dev/null", "", UNKNOWN),
        ("go build ./... | grep cart", "", UNKNOWN),
        ("npm start", "Command running in background with ID: 3", UNKNOWN),
    ],
)  # fmt: skip
def test_a_status_counts_where_the_command_lets_it_through(command: str, answer: str, kind: Verdict) -> None:
    assert outcome_of(command, answer).kind is kind


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("cat build.log", "make: *** [all] Error 2\n1 failed, 3 passed in 0.1s"),
        ("tail -20 app.log", 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    x()\nValueError: x'),
        ("grep -rn 'error:' src | head", 'src/a.c:3:    puts("error: no");\nsrc/b.c:9:1: error: x'),
        ("git log --oneline -3", "1234567 Fix error: failed to push\n89abcde FAILED tests are done"),
        ("git diff", "+raise ValueError('failed')\n-FAIL\tpkg\t0.1s"),
        ("git status", 'Changes not staged for commit:\n  modified: a.py\n\nno changes added to commit (use "git add")'),
        ("gh pr view 3", "## Done\nAll tests passed. error: none"),
        ("make part_7", "part_7 was built\nError: (none)"),
        ("make part_7", "part_7 was built\nerror: none"),
        ("gh run view 9 --log | tail", "##[error]Process completed with exit code 1."),
        ("python report.py", "compiled with 0 errors, 0 failed"),
        ("python report.py", "warning: error handling is deprecated"),
        ("python serve.py", "ERROR in app: no such user\nretrying\n" + "GET / 200\n" * 20),
        ("python count.py", "errors: 0\nrows: 12"),
        ("ls", "error.py\nfailed.txt\nTraceback"),
        ("python inspect.py", "fatal: not a git repository\nchecked 9 of 9 folders"),
    ],
)  # fmt: skip
def test_what_is_shown_of_others_decides_nothing(command: str, answer: str) -> None:
    assert outcome_of(command, answer).kind is UNKNOWN


def test_a_commit_and_a_push_are_told_by_what_they_left() -> None:
    commit = outcome_of(
        "git add . && git commit -m 'Fix totals'",
        " 12 pass\n 0 fail\nRan 12\n[main 1a2b3c4] Fix totals\n 2 files changed",
    )
    assert (commit.kind, commit.shorten(60)) == (OK, "12 pass 0 fail / [main 1a2b3c4] Fix totals")
    assert commit.shorten(30) == "[main 1a2b3c4] Fix totals"
    assert (
        outcome_of("git push", "To x:y.git\n   1a2b3c4..5d6e7f8  main -> main").text == "1a2b3c4..5d6e7f8 main -> main"
    )
    assert (
        outcome_of("gh pr create --fill", "https://github.com/x/y/pull/12\n").text == "https://github.com/x/y/pull/12"
    )


@pytest.mark.parametrize(
    ("name", "answer", "kind", "text"),
    [
        ("book", '{"item": {"ReservationStatus": "Reservation Failed", "id": 178}, "total": -1}', FAILED, "ReservationStatus: Reservation Failed; id: 178"),
        ("book", '{"item": {"Message": "Unavailable", "id": 178}}', FAILED, "Unavailable; id: 178"),
        ("book", '{"status": "confirmed", "confirmation_number": "QX7-221", "total": 419.5, "guests": []}', OK, "status: confirmed; confirmation_number: QX7-221; total: 419.50"),
        ("cancel_order", '{"order_id": "#W9", "status": "cancelled", "payment_history": [{"type": "payment", "amount": 9.5}, {"type": "refund", "amount": 9.5}]}', OK, "status: cancelled; order_id: #W9; payment_history: refund, 9.50"),
        ("return_items", '{"order_id": "#W9", "status": "return requested"}', OK, "status: return requested; order_id: #W9"),
        ("change_address", '{"order_id": "#W9", "status": "pending"}', UNKNOWN, '{"order_id": "#W9", "status": "pending"}'),
        ("pay", '{"error": {"message": "card declined"}, "id": "p_1"}', FAILED, "card declined; id: p_1"),
        ("pay", '{"success": false, "message": "no funds"}', FAILED, "no funds"),
        ("pay", '{"success": true, "id": "p_1"}', OK, "ok; id: p_1"),
        ("pay", '{"status": "failed", "code": "E7"}', FAILED, "status: failed; code: E7"),
        ("post", '{"statusCode": 503, "body": ""}', FAILED, "statusCode: 503"),
        ("post", '{"error": null, "errors": [], "ok": true, "url": "https://x.y"}', OK, "ok; url: https://x.y"),
        ("modify", "Error: The new item id should be different", FAILED, "Error: The new item id should be different"),
        ("weather", '{"City": "Pittsburgh", "Weather": "Raining"}', UNKNOWN, '{"City": "Pittsburgh", "Weather": "Raining"}'),
        ("TaskCreate", "Task #2 created successfully: Verify that the tests fail", OK, "Task #2 created successfully: Verify that the tests fail"),
        ("mcp__x__create_issue", "Argument Validation Error", FAILED, "Argument Validation Error"),
        ("create_ticket", '{"created": true, "key": "K-1"}', OK, "ok; key: K-1"),
        ("create_ticket", '{"created": false, "key": "K-1"}', FAILED, "created: false; key: K-1"),
        ("close_ticket", '{"created": false, "key": "K-1"}', UNKNOWN, '{"created": false, "key": "K-1"}'),
        ("create_or_update", '{"created": false, "updated": true}', UNKNOWN, '{"created": false, "updated": true}'),
        ("deploy_site", '{"deployed": true}', OK, "ok"),
        ("post_entry", "entry_id;state;month\n7;FAILED, month is closed;09", FAILED, "state: FAILED, month is closed; entry_id: 7"),
        ("post_entry", "entry_id,status\n7,posted", OK, "status: posted; entry_id: 7"),
        ("post_entry", "one thing, another thing\nfailed, passed", UNKNOWN, "one thing, another thing failed, passed"),
        ("swap", "<html><body><h1>Rota</h1><p class='err'>Swap of shift 9: rejected</p></body></html>", FAILED, "Rota Swap of shift 9: rejected"),
        ("swap", "Shift 9: swap not possible", FAILED, "Shift 9: swap not possible"),
        ("swap", "0 errors, all fine here", UNKNOWN, "0 errors, all fine here"),
    ],
)  # fmt: skip
def test_an_answer_is_judged_by_its_fields_and_first_words(name: str, answer: str, kind: Verdict, text: str) -> None:
    assert called(name, {"x": 1}, answer) == Outcome(kind, text)


@pytest.mark.parametrize(
    ("name", "answer", "kind"),
    [
        ("get_job", '{"id": 3, "status": "failed", "message": "error in step 2"}', UNKNOWN),
        ("get_job", '{"error": "no such job"}', FAILED),
        ("get_order", "Error: Order not found", FAILED),
        ("get_rows", "id,error\n7,timeout", UNKNOWN),
        ("search_docs", "Error handling\n\nErrors are values. " + "text " * 200, UNKNOWN),
        ("Read", "<tool_use_error>File does not exist.</tool_use_error>", FAILED),
        ("Read", "1\traise ValueError('failed')\n2\t# The user rejected this", UNKNOWN),
        ("Grep", "No matches found", UNKNOWN),
    ],
)
def test_what_is_read_may_tell_of_failures(name: str, answer: str, kind: Verdict) -> None:
    assert called(name, {"file_path": "/a.py"}, answer).kind is kind


@pytest.mark.parametrize(
    ("name", "answer", "kind"),
    [
        ("Edit", "The file /a.py has been updated successfully.", OK),
        ("Edit", "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>", FAILED),
        ("Edit", "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>", FAILED),
        ("edit", "No changes to make: old_string and new_string are exactly the same.", FAILED),
        ("str_replace", "No replacement was performed, old_str `x` did not appear verbatim in /a.py.", FAILED),
        ("edit", "Your proposed edit has introduced new syntax error(s).", FAILED),
        ("edit", "1: def fail():\n2:     raise Error", UNKNOWN),
        ("Write", "File created successfully at: /a.py", OK),
        ("Write", "File updated; it was not found before", OK),
    ],
)  # fmt: skip
def test_an_edit_that_changed_nothing_failed(name: str, answer: str, kind: Verdict) -> None:
    assert called(name, {"file_path": "/a.py", "content": "x"}, answer).kind is kind


_REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file)."


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (f"{_REJECTED} To tell you how to proceed, the user said:\nnot now,\n\nuse the API first", "not now,\n\nuse the API first"),
        (f"{_REJECTED} STOP what you are doing and wait for the user to tell you how to proceed.", ""),
        ("[Request interrupted by user for tool use]", ""),
        ("The user rejected this call with the following feedback: too broad", "too broad"),
        ("The user denied this operation and provided the following feedback:\n<feedback>\nkeep it\n</feedback>", "keep it"),
        ("exec command rejected by user", ""),
        (f"{_REJECTED} the user said:\nwait\n\nNote: The user's next message may contain a correction or preference.", "wait"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", [True, False])
def test_a_refusal_has_all_of_the_persons_words_and_no_others(answer: str, words: str, command: bool) -> None:
    name, arguments = ("Bash", {"command": "git push"}) if command else ("Edit", {"file_path": "/a.py"})
    assert called(name, arguments, answer, error=True) == Outcome(REFUSED, words)
    # A page that a command shows can say the same; only the program that runs the calls can flag it.
    assert called(name, arguments, answer) == Outcome(REFUSED, words, claimed=True)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([("pytest -x tests", "1 failed in 1s"), ("cd /srv && python -m pytest tests -q | tail", "9 passed in 1s")], {0: 3}),
        ([("cd web && npm test", "Tests: 1 failed, 1 total"), ("cd api && npm test", "Tests: 3 passed, 3 total")], {}),
        ([("pytest tests", "1 failed in 1s"), ("pytest other", "9 passed in 1s")], {}),
        ([("pytest tests", "1 failed in 1s"), ("pytest tests", "9 passed in 1s"), ("pytest tests", "2 failed in 1s")], {}),
        ([("pytest tests", "1 failed in 1s"), ("pytest tests | tail -1", "...")], {}),
        ([("git push", " ! [rejected] main -> main (fetch first)"), ("git push --force-with-lease", " 1a2b3c4..5d6e7f8 main -> main")], {0: 3}),
        ([("git fetch && git merge main", "CONFLICT (content): Merge conflict in a.py"), ("git add . && git commit --no-edit", "[main 1a2b3c4] Merge main")], {0: 3}),
        ([("git merge a", "CONFLICT (content): Merge conflict in a.py"), ("git merge b", "Merge made by the 'ort' strategy.")], {}),
        ([("git rebase main", "CONFLICT (content): Merge conflict in a.py"), ("git rebase --continue", "Successfully rebased and updated refs/heads/x.")], {0: 3}),
        ([("git commit -m a", "husky - pre-commit script failed (code 1)"), ("git commit -m b", "[main 1a2b3c4] b")], {0: 3}),
        ([("npm run build && npm test", "npm ERR! code 1"), ("npm test", "Tests: 3 passed, 3 total")], {}),
        ([("npm run build && npm test", "npm ERR! code 1"), ("npm run build && npm test", "Tests: 3 passed, 3 total")], {0: 3}),
        ([("make > /tmp/a.log", "make: *** [x] Error 1"), ("make > /tmp/b.log; tail /tmp/b.log", "built in 3s")], {0: 3}),
    ],
)  # fmt: skip
def test_a_failure_is_mended_by_the_newest_that_does_the_same(
    steps: list[tuple[str, str]], expected: dict[int, int]
) -> None:
    assert mended(session(*steps).actions) == expected


def test_another_script_for_the_same_program_mends_nothing() -> None:
    trace = 'Traceback (most recent call last):\n  File "<stdin>", line 1, in <module>\nKeyError: 1'
    first, other = "python3 - <<'EOF'\nprint(rates[1])\nEOF", "python3 - <<'EOF'\nprint(names)\nEOF"
    failed, later = session((first, trace), (other, "3 passed")).actions
    assert (failed.outcome.kind, failed.superseded, failed.mended_by) == (FAILED, False, None)
    assert later.outcome.kind is OK
    failed, _ = session((first, trace), (first, "3 passed")).actions
    assert failed.mended_by is not None


def test_an_edit_is_mended_by_another_of_the_same_file() -> None:
    failed = used("Edit", {"file_path": "/a.py"}, "String to replace not found in file.", error=True)
    done = used("Edit", {"file_path": "/a.py"}, "The file /a.py has been updated successfully.", id="t2")
    other = used("Edit", {"file_path": "/b.py"}, "The file /b.py has been updated successfully.", id="t2")
    assert mended(read(anthropic(user("Go."), *failed, *done)).actions) == {0: 3}
    assert mended(read(anthropic(user("Go."), *failed, *other)).actions) == {}


def test_what_is_done_again_is_superseded_but_a_commit_stays() -> None:
    reading = session(
        ("pytest -q tests", "9 passed in 1s"),
        ("git commit -m a", "[main 1a2b3c4] a"),
        ("pytest tests", "9 passed in 1s"),
        ("git commit -m b", "[main 5d6e7f8] b"),
    )
    assert [action.superseded for action in reading.actions] == [True, False, False, False]


def test_an_edit_stands_until_the_file_is_written_anew() -> None:
    done = "The file has been updated successfully."
    wrote = used("Write", {"file_path": "/a.py", "content": "a"}, done, id="t1")
    edited = used("Edit", {"file_path": "/a.py", "old_string": "a", "new_string": "b"}, done, id="t2")
    again = used("Edit", {"file_path": "/a.py", "old_string": "b", "new_string": "c"}, done, id="t3")
    actions = read(anthropic(user("Go."), *wrote, *edited, *again)).actions
    assert [action.superseded for action in actions] == [False, False, False]
    anew = used("Write", {"file_path": "/a.py", "content": "d"}, done, id="t4")
    actions = read(anthropic(user("Go."), *wrote, *edited, *again, *anew)).actions
    assert [action.superseded for action in actions] == [True, True, True, False]
    failed = used("Edit", {"file_path": "/a.py"}, "String to replace not found in file.", error=True, id="t0")
    assert read(anthropic(user("Go."), *failed, *edited)).actions[0].superseded


@pytest.mark.parametrize("filler", [" ", "\n", "a", "1", "a/", "a:", "error: ", "\t", "  File \n"])
@pytest.mark.parametrize("end", ["error: x", "1 failed in 1s", "x: No such file or directory", ""])
def test_no_output_takes_long_to_judge(filler: str, end: str) -> None:
    assert outcome_of("make | tail", filler * (40_000 // len(filler)) + end).kind in (FAILED, UNKNOWN)


@pytest.mark.parametrize(
    ("again", "expected"),
    [("app: wrote bin/app", "app: wrote bin/app"), ("make: *** [app] Error 2", None), ("", "")],
)
def test_what_failed_and_was_done_again_says_what_that_printed(again: str, expected: str | None) -> None:
    failed = session(("make app", "make: *** [app] Error 1"), ("make app", again)).actions[0]
    assert (failed.outcome.failed, failed.mended_by, failed.rerun) == (True, None, expected)
