# Every command of the project; `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help setup dist docs serve check fix test test-long test-engines torture torture-cluster simulate-cluster test-workers attack prove screenshots link-pictures gallery lighthouse soak autobahn fuzz fuzz-frames fuzz-relays fuzz-xsos fuzz-gammonx schemathesis bots gammonx \
        bench bench-count bench-moves bench-fanout bench-memory bench-stuck bench-relay bench-load bench-cluster bench-rules bench-audience bench-rolls bench-parts bench-page bench-glide bench-agents bench-gnubg train
bin := .venv/bin
unexport PYTHONDONTWRITEBYTECODE # containers set it, and then each of the servers that tests start compiles everything again

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: .venv/ready src/parlour/web/index.html ## make what serve and test share: the virtual environment and the page

.venv/ready: scripts/setup requirements.lock pyproject.toml
	@scripts/setup

web/node_modules/.ready: scripts/setup-page web/package-lock.json
	@scripts/setup-page

src/parlour/web/index.html: web/node_modules/.ready $(shell find web -path web/node_modules -prune -o -path web/tests -prune -o -path web/gallery -prune -o -type f -print)
	@scripts/build-page

tests/e2e/node_modules/.ready: scripts/setup-clients tests/e2e/package-lock.json
	@scripts/setup-clients

dist: setup ## build the wheel and the sdist into dist/
	@rm -rf dist
	$(bin)/python -m hatchling build

docs: ## build the documentation as a site into site/
	@scripts/docs

serve: setup ## run the server on http://127.0.0.1:8000
	@$(bin)/parlour serve

check: setup ## format, lint, types, imports and the pure tests: under a minute
	$(bin)/ruff format --check --quiet .
	$(bin)/ruff check --quiet .
	$(bin)/mypy
	$(bin)/lint-imports --no-cache
	npm run --silent --prefix web check
	npm run --silent --prefix web test
	$(bin)/pytest -q -n auto -m "not e2e and not play and not long"

test: check tests/e2e/node_modules/.ready ## everything: what CI runs
	@scripts/setup-faults
	@scripts/setup-cluster
	@scripts/setup-browser
	@scripts/setup-docs
	PARLOUR_TEST_BUS=encoding $(bin)/pytest -q -n auto -m "not e2e and not play and not long" tests/server tests/doors tests/contracts/test_transcripts.py
	$(bin)/pytest -q -n auto --dist loadfile -m "(e2e or play) and not long"

test-long: setup tests/e2e/node_modules/.ready ## more of the same: other seeds, other variants, longer matches; some ten minutes
	@scripts/setup-browser
	$(bin)/pytest -q -n auto -m long --ignore tests/e2e/test_engines.py

test-engines: setup ## the main journey in Firefox and in WebKit, the engine of Safari; on Debian they are installed
	@scripts/setup-engines
	$(bin)/pytest -q -n 0 tests/e2e/test_engines.py

torture: setup ## kill a server 200 times while it is played on, and its database, and more of the kind: some fifteen minutes
	$(bin)/python -m tests.torture kills
	$(bin)/python -m tests.torture kills --journal postgresql --kills 30 --crashes 10 --rooms 60
	$(bin)/python -m tests.torture accounts
	$(bin)/python -m tests.torture passkeys
	$(bin)/python -m tests.torture webhooks
	$(bin)/python -m tests.torture restarts
	$(bin)/python -m tests.torture starts

torture-cluster: setup tests/e2e/node_modules/.ready ## kill, freeze and cut off workers, their bus and their database while they are played on: an hour
	@scripts/setup-cluster
	$(bin)/python -m tests.torture cluster
	$(bin)/python -m tests.torture adoptions
	$(bin)/python -m tests.torture rolling

simulate-cluster: setup ## three workers on a virtual clock with every fault there is, 100,000 times: an hour; schedules=N for fewer, seed=N for one
	$(bin)/python -m tests.simulation $(if $(seed),--seed $(seed),--schedules $(or $(schedules),100000))

test-workers: setup tests/e2e/node_modules/.ready ## the real clients against three workers on one port
	@scripts/setup-cluster
	@scripts/setup-browser
	PARLOUR_TEST_WORKERS=3 $(bin)/pytest -q -n auto -m "e2e and not long" tests/e2e/test_channels.py tests/e2e/test_relays.py tests/e2e/test_xsos.py \
	  tests/e2e/test_gammonx.py tests/e2e/test_ogetarts.py tests/e2e/test_stratego.py tests/e2e/test_browser.py tests/e2e/test_browser_lobby.py \
	  tests/e2e/test_browser_accounts.py

attack: setup ## every hostile client, one after the other, beside people who play: some fifteen minutes; name=WORD for some
	@scripts/setup-faults
	$(bin)/python -m tests.attack $(name)

prove: ## the long proofs, one after the other: hours; each can also be run by itself
	$(MAKE) test-long test-engines test-workers torture torture-cluster attack autobahn schemathesis bots gammonx
	$(MAKE) fuzz fuzz-frames fuzz-relays fuzz-xsos fuzz-gammonx
	$(MAKE) soak games=1000
	$(MAKE) bench-page lighthouse

soak: setup ## 10,000 random games of every game, each replayed: hours; games=N for fewer, game=NAME for one
	$(bin)/python -m tests.contracts.soak --games $(or $(games),10000) $(game)

fix: setup ## let the tools fix what they can
	$(bin)/ruff format --quiet .
	$(bin)/ruff check --fix --quiet .

screenshots: setup ## pictures of every page and board in screenshots/, to be looked at; the docs' own are taken over
	@scripts/screenshots

link-pictures: setup ## the still pictures that links show in a chat: run it after a new game or variant, or another look
	@scripts/link-pictures

gallery: setup ## the gallery of the docs, docs/gallery.md with its pictures: run it after a new word of scenes, or another look
	@scripts/gallery

tests/lighthouse/node_modules/.ready: scripts/setup-lighthouse tests/lighthouse/package-lock.json
	@scripts/setup-lighthouse

lighthouse: setup tests/lighthouse/node_modules/.ready ## Lighthouse at home, a room and a replay, as a phone and as a desktop: at least 95 everywhere; wants a calm machine
	@scripts/setup-browser
	$(bin)/python -m tests.lighthouse

autobahn: setup ## the WebSocket conformance suite against our sockets; needs a Python 2.7
	@scripts/autobahn

fuzz: setup ## fuzz every parser, with atheris where it installs; seconds=N for each
	@scripts/fuzz $(or $(seconds),20)

fuzz-frames: setup ## a million fuzzed frames through a live server; frames=N for fewer
	@$(bin)/python -m fuzz.frames --frames $(or $(frames),1000000)

fuzz-relays: setup ## a million frames of whatever bytes through the relays of a live server; frames=N for fewer
	@$(bin)/python -m fuzz.relays --frames $(or $(frames),1000000)

fuzz-xsos: setup ## a million fuzzed frames at the XsOs door of a live server; frames=N for fewer
	@$(bin)/python -m fuzz.xsos --frames $(or $(frames),1000000)

fuzz-gammonx: setup ## a million fuzzed frames at the GammonX hub of a live server; frames=N for fewer
	@$(bin)/python -m fuzz.gammonx --frames $(or $(frames),1000000)

schemathesis: setup ## random HTTP calls by the OpenAPI document against a live server
	@scripts/schemathesis

benchmarks/peers/node_modules/.ready: scripts/setup-peers benchmarks/peers/package-lock.json
	@scripts/setup-peers

bench: setup benchmarks/peers/node_modules/.ready ## side by side with other servers: minutes; PAIRS=3 for a quick look
	$(bin)/python -m benchmarks

bench-moves bench-fanout bench-memory bench-stuck bench-relay: setup benchmarks/peers/node_modules/.ready
	$(bin)/python -m benchmarks $(@:bench-%=%)

bench-load: setup benchmarks/peers/node_modules/.ready ## games that one core sustains, beside other servers: half an hour; SEARCHES=1 for a quick look
	$(bin)/python -m benchmarks load

bench-cluster: setup ## what PostgreSQL, a second worker and spectators at other workers cost: some ten minutes; PAIRS=3 for a quick look
	@scripts/setup-cluster
	$(bin)/python -m benchmarks cluster

bench-count: setup ## instructions of one move, by valgrind; base=COMMIT counts that commit beside it
	@scripts/need valgrind command -v valgrind
	$(bin)/python -m benchmarks.count $(base)

bench-agents: setup ## environments for agents beside those of PettingZoo and OpenSpiel, and search: two minutes
	$(bin)/python -m benchmarks.agents

train: setup ## let a network teach itself backgammon and its relatives, and meet the bots: some minutes; games=N for more
	@for variant in tavla plakoto fevga; do \
	  $(bin)/python examples/td_backgammon.py --variant $$variant --games $(or $(games),3000) && \
	  $(bin)/parlour simulate backgammon --config "{\"variant\": \"$$variant\"}" --bots examples.td_backgammon:play,easy,medium --games 120 || exit 1; \
	done

bench-gnubg: setup ## what the bots lose by their moves in backgammon, by GNU Backgammon; needs it, and make train for the network
	@scripts/need gnubg test -x /usr/games/gnubg
	$(bin)/python -m benchmarks.gnubg $(positions)

bench-rules: setup ## what rules, views and scenes of one move cost, for every game
	$(bin)/python -m benchmarks.rules

bench-audience: setup ## a move of Stratego before 1,000 spectators: to think it out against to send it
	$(bin)/python -m benchmarks.audience

bench-page: setup ## how soon home is there over 1.6 Mbit/s, and a match of 905 steps in the replay: the median; wants a calm machine; ROUNDS=N for more
	@scripts/setup-browser
	$(bin)/python -m benchmarks.page

bench-glide: setup ## how smoothly 13 cards glide on a phone-sized page with the CPU slowed four times, beside empty pages; wants a calm machine; ROUNDS=N for more
	@scripts/setup-browser
	$(bin)/python -m benchmarks.glide

bench-parts: setup ## where the CPU of one move goes
	$(bin)/python -m benchmarks.parts

gammonx: setup tests/e2e/node_modules/.ready ## whole matches of every kind with the real SignalR client, against each other, bots and browsers
	@scripts/setup-browser
	$(bin)/pytest -q -n auto --durations=0 tests/e2e/test_gammonx.py tests/e2e/test_one_match.py

bots: setup ## whether each bot beats the one below, to 95 %, and how long they think: some minutes
	$(bin)/python -m tests.bots

bench-rolls: setup ## what it takes to list all ways to play a roll of backgammon and its relatives
	$(bin)/python -m benchmarks.rolls
