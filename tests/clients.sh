#!/usr/bin/env bash
# Real MCP clients against the built file: bash tests/clients.sh [doctrove.pyz]
#
# Installs pinned versions from npm into a throwaway folder; each client runs in a HOME of its own, with a clean environment and, where the machine allows
# it, in a network namespace that has loopback only. `doctrove.pyz setup CLIENT --write` is what configures it, beside what the client needs to know of
# the model on 127.0.0.1 that plays its part: that one calls doc_extract and must be shown the passage. No account, no key.
# One line per client: NAME VERSION PASS|FAIL protocol=… first=… tools=… call=… model=…
# The protocol version must be the expected one: falling back to the older era in silence is a failure.
#
#   CLIENTS       which ones: "all", or names separated by spaces      (default: claude codex dsh inspector)
#   CLIENTS_DIR   where they are installed and kept                    (default: a new folder, removed at the end)
# Exit status: 0 when all passed, 1 otherwise. Logs of what failed are printed.
set -uo pipefail
PYZ=${1:+$(realpath "$1")}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
ALL='claude codex opencode gemini qwen copilot cline cn kilo mcporter inspector dsh'
WANT=${CLIENTS:-claude codex dsh inspector}
[ "$WANT" != all ] || WANT=$ALL
WORK=$(mktemp -d)
KIT=${CLIENTS_DIR:-$WORK/kit}
mkdir -p "$KIT"
trap 'rm -rf "$WORK"' EXIT
PY=$(python3 -c 'import sys; print(sys.executable)')
if [ -z "$PYZ" ]; then
    PYZ=$WORK/doctrove.pyz
    "$PY" build_zipapp.py -o "$PYZ" >/dev/null || exit 1
fi
HELP=$ROOT/tests/clients_kit.py
PORT=18998
MODEL=http://127.0.0.1:$PORT

NODE='node@24 pnpm@10.34.9'
declare -A PACKAGE=(
    [claude]=@anthropic-ai/claude-code@2.1.332 [codex]=@openai/codex@0.171.0 [opencode]=opencode-ai@1.18.33 [gemini]=@google/gemini-cli@0.61.0
    [qwen]=@qwen-code/qwen-code@0.24.4 [copilot]=@github/copilot@1.0.102 [cline]=cline@3.0.65 [cn]=@continuedev/cli@1.5.47 [kilo]=@kilocode/cli@7.7.7
    [mcporter]=mcporter@0.12.3 [inspector]=@modelcontextprotocol/inspector@2.12.0 [dsh]=@deepseek-ai/dsh@0.1.0-rc.8)
declare -A PROTOCOL=(
    [claude]=2026-07-28 [codex]=2025-06-18 [opencode]=2025-11-25 [gemini]=2025-06-18 [qwen]=2025-11-25 [copilot]=2026-07-28 [cline]=2024-11-05
    [cn]=2025-11-25 [kilo]=2025-11-25 [mcporter]=2025-11-25 [inspector]=2026-07-28 [dsh]=2025-11-25)

# ── installing ──

export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_loglevel=error
BIN=$KIT/node/node_modules/.bin

npm_install() {  # FOLDER PACKAGE…: into a folder of its own, unless they are there
    local folder=$1
    shift
    [ "$(cat "$folder/.done" 2>/dev/null)" != "$*" ] || return 0
    rm -rf "$folder"
    mkdir -p "$folder"
    echo '{"private": true}' >"$folder/package.json"
    (cd "$folder" && PATH=$BIN:$PATH timeout 900 npm install "$@") >"$folder/install.log" 2>&1 && echo "$*" >"$folder/.done"
}

install_dsh() {  # npm does not come to an end on its peers, and newer cordis packages than those of its release stop it: pnpm, and pins
    local folder=$KIT/dsh
    [ "$(cat "$folder/.done" 2>/dev/null)" != "${PACKAGE[dsh]}" ] || return 0
    rm -rf "$folder"
    mkdir -p "$folder"
    cat >"$folder/package.json" <<JSON
{ "private": true, "dependencies": { "@deepseek-ai/dsh": "${PACKAGE[dsh]##*@}" },
  "pnpm": { "overrides": {
    "@deepseek-ai/cordis": "4.0.1", "@deepseek-ai/cosmokit": "1.8.2", "@deepseek-ai/schemastery": "3.18.1", "@deepseek-ai/cordis-plugin-group": "1.0.1",
    "@deepseek-ai/cordis-plugin-hmr": "1.0.16", "@deepseek-ai/cordis-plugin-include": "1.0.6", "@deepseek-ai/cordis-plugin-loader": "1.0.2",
    "@deepseek-ai/cordis-plugin-timer": "1.1.3" } } }
JSON
    (cd "$folder" && PATH=$BIN:$PATH timeout 900 pnpm install --store-dir "$KIT/pnpm-store" --reporter=append-only) >"$folder/install.log" 2>&1 &&
        echo "${PACKAGE[dsh]}" >"$folder/.done"
}

install_client() {
    # shellcheck disable=SC2086  # a list
    npm_install "$KIT/node" $NODE || return 1
    if [ "$1" = dsh ]; then install_dsh; else npm_install "$KIT/$1" "${PACKAGE[$1]}"; fi
}

# ── running ──

SPACE=()
if unshare -n -p -f --mount-proc true 2>/dev/null; then
    SPACE=(unshare -n -p -f --kill-child --mount-proc)
else
    echo 'note: no network namespace here, the clients run with the network of the machine' >&2
fi

isolated() {  # [NAME=value…] -- COMMAND…
    local extra=()
    while [ "$1" != -- ]; do extra+=("$1"); shift; done
    shift
    timeout -k 5 150 "${SPACE[@]}" env -i PATH="$KIT/$C/node_modules/.bin:$BIN:$(dirname "$PY"):/usr/local/bin:/usr/bin:/bin" HOME="$R/home" TMPDIR="$R/tmp" \
        TERM=dumb LANG=C.UTF-8 NO_COLOR=1 CI=1 XDG_CONFIG_HOME="$R/home/.config" XDG_DATA_HOME="$R/home/.local/share" XDG_CACHE_HOME="$R/home/.cache" \
        XDG_STATE_HOME="$R/home/.local/state" DSH_HOME="$R/home/.dsh" DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 \
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 GEMINI_TELEMETRY_ENABLED=false \
        CONTINUE_TELEMETRY_ENABLED=0 "${extra[@]}" sh -c 'ip link set lo up 2>/dev/null; cd "$0" && exec "$@"' "$R/work" "$@" </dev/null
}

with_model() {
    local extra=()
    while [ "$1" != -- ]; do extra+=("$1"); shift; done
    shift
    isolated "${extra[@]}" -- "$PY" "$HELP" mock $PORT "$R/model.log" -- "$@"
}

setup() {  # setup CLIENT…: with the archive that stands in this client's folder; then the tap takes its place
    isolated -- "$PY" "$R/a place/doctrove.pyz" setup "$@" >>"$R/setup.log" 2>&1
}

tapped() {  # FILE: from here on what passes through this archive is written down
    "$PY" "$HELP" tap "$PYZ" "$R/tap.log" >"$1"
}

new_client() {
    R=$WORK/run/$C
    mkdir -p "$R"/{home,work,tmp} "$R/a place"
    cp "$PYZ" "$R/a place/doctrove.pyz"
}

configure() {
    setup "$@" --write && tapped "$R/a place/doctrove.pyz"
}

has() { grep -q -- "$1" "$R/$2"; }

check_claude() {
    configure claude || return 1
    isolated -- claude mcp list >"$R/list.log" 2>&1
    has '^doctrove: .*Connected' list.log || return 1
    with_model ENABLE_TOOL_SEARCH=false ANTHROPIC_BASE_URL=$MODEL ANTHROPIC_API_KEY=dummy -- \
        claude -p 'use doctrove' --output-format stream-json --verbose --allowedTools mcp__doctrove >"$R/run.log" 2>&1
    has '"name":"doctrove","status":"connected"' run.log
}

check_codex() {
    configure codex || return 1
    isolated -- codex mcp list >"$R/list.log" 2>&1
    has '^doctrove .*enabled' list.log || return 1
    isolated -- "$PY" "$HELP" codex >"$R/status.log" 2>&1 || return 1
    with_model -- codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -c model=mock -c model_provider=mock \
        -c "model_providers.mock={name=\"mock\",base_url=\"$MODEL/v1\",wire_api=\"responses\"}" 'use doctrove' >"$R/run.log" 2>&1
    has MODEL-DONE run.log
}

like_opencode() {  # PROGRAM FOLDER FILE: the model is in the configuration that doctrove writes into
    mkdir -p "$R/home/.config/$2"
    cat >"$R/home/.config/$2/$3" <<JSON
{
  // the model of this check
  "model": "mock/mock",
  "provider": { "mock": { "npm": "@ai-sdk/openai-compatible", "options": { "baseURL": "$MODEL/v1", "apiKey": "dummy" }, "models": { "mock": {} } } },
}
JSON
    configure "$1" || return 1
    isolated -- "$1" mcp list >"$R/list.log" 2>&1
    sed 's/\x1b\[[0-9;]*m//g; s/\[90m//g' "$R/list.log" | grep -q 'doctrove *connected' || return 1
    with_model -- "$1" run 'use doctrove' >"$R/run.log" 2>&1
}
check_opencode() { like_opencode opencode opencode opencode.json; }
check_kilo() { like_opencode kilo kilo kilo.json; }

check_gemini() {
    local trust=GEMINI_CLI_TRUST_WORKSPACE=true  # in a folder that is not trusted it starts no server
    mkdir -p "$R/home/.gemini"
    echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}}' >"$R/home/.gemini/settings.json"
    configure gemini || return 1
    isolated $trust -- gemini mcp list >"$R/list.log" 2>&1
    has 'doctrove: .*Connected' list.log || return 1
    with_model $trust GEMINI_API_KEY=dummy GOOGLE_GEMINI_BASE_URL=$MODEL -- gemini -m gemini-2.5-flash --yolo -p 'use doctrove' >"$R/run.log" 2>&1
}

check_qwen() {
    configure qwen || return 1
    isolated -- qwen mcp list >"$R/list.log" 2>&1
    has 'doctrove: .*Connected' list.log || return 1
    with_model OPENAI_API_KEY=dummy OPENAI_BASE_URL=$MODEL/v1 OPENAI_MODEL=mock -- qwen --auth-type openai --yolo -p 'use doctrove' >"$R/run.log" 2>&1
}

check_copilot() {
    configure copilot || return 1
    with_model COPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL=$MODEL/v1 COPILOT_MODEL=mock -- copilot -p 'use doctrove' --allow-all-tools >"$R/run.log" 2>&1
}

check_cline() {
    configure cline || return 1
    isolated -- cline auth -p openai-compatible -k dummy -m mock -b $MODEL/v1 >"$R/auth.log" 2>&1
    with_model -- cline -P openai-compatible -k dummy -m mock 'use doctrove' >"$R/run.log" 2>&1
    return 0  # what it exits with says nothing; the tap and the model do
}

check_cn() {
    mkdir -p "$R/home/.continue"
    cat >"$R/home/.continue/config.yaml" <<YAML
name: check
version: 0.0.1
schema: v1
models:  # the model of this check
  - { name: mock, provider: openai, model: mock, apiBase: $MODEL/v1, apiKey: dummy, roles: [chat], capabilities: [tool_use] }
YAML
    configure cn || return 1
    with_model -- cn --config "$R/home/.continue/config.yaml" --auto -p 'use doctrove' >"$R/run.log" 2>&1
}

check_mcporter() {
    configure mcporter || return 1
    isolated -- mcporter list doctrove --json >"$R/list.log" 2>&1
    has '"status": *"ok"' list.log || return 1
    isolated -- mcporter call doctrove.doc_extract --args '{"id": "express", "version": "4", "focus": "wildcard"}' --output json >"$R/run.log" 2>&1
    has 4.21.2 run.log
}

inspect() {  # LOG OPTION…: through the configuration that doctrove wrote for a project of Claude Code
    local log=$1
    shift
    isolated -- mcp-inspector --cli --config "$R/work/.mcp.json" --server doctrove "$@" >"$R/$log" 2>&1
}

check_inspector() {
    local call=(--method tools/call --tool-name doc_extract --tool-args-json '{"id": "express", "version": "4", "focus": "wildcard"}')
    configure claude --scope project || return 1
    inspect legacy.log --protocol-era legacy "${call[@]}" && has 4.21.2 legacy.log || return 1
    "$PY" "$HELP" report "$R/tap.log" | grep -q 'protocol=2025-11-25 .*call=ok' || return 1
    inspect auto.log --protocol-era auto --method tools/list || return 1
    inspect modern.log --protocol-era modern "${call[@]}" && has 4.21.2 modern.log || return 1
    # both forms of answers and all tools, against the strict check of schemas
    isolated -- mcp-inspector --cli "$PY" -I -S "$PYZ" --root "$R/library" --method tools/list --strict >"$R/strict.log" 2>&1 || return 1
}

probe_dsh() {  # LOG OPTION…: whether the tools are in the registry
    local log=$1
    shift
    isolated "$@" -- dsh --profile headless --patch "$R/probe.yml" probe >"$R/$log" 2>&1
    has 'PROBE .*mcp__doctrove__doc_extract' "$log"
}

check_dsh() {
    cat >"$R/probe.mjs" <<'JS'
export const name = 'probe'
export const inject = ['tools']
export function apply(ctx) {
  const end = Date.now() + 60000
  const look = () => {
    const found = ctx.tools.schemas().map(tool => tool.name).filter(name => name.startsWith('mcp__doctrove__'))
    if (!found.length && Date.now() < end) return void setTimeout(look, 50)
    console.log('PROBE ' + found.join(' '))
    process.exit(found.length ? 0 : 1)
  }
  setTimeout(look, 50)
}
JS
    printf -- "- insert:\n    - id: probe\n      name: 'file://%s/probe.mjs'\n" "$R" >"$R/probe.yml"
    setup dsh --bundle "$R/bundle" || return 1
    # from a tarball, into a home of its own
    (cd "$R/bundle" && PATH=$BIN:$PATH npm pack --pack-destination "$R") >"$R/pack.log" 2>&1 || return 1
    isolated DSH_HOME="$R/tar" -- dsh plugin --profile headless add "$(ls "$R"/doctrove-dsh-*.tgz)" >"$R/tar.log" 2>&1 || return 1
    probe_dsh tar-probe.log DSH_HOME="$R/tar" || return 1
    # the row in the user's own patch file
    setup dsh --write || return 1
    probe_dsh row-probe.log || return 1
    setup dsh --remove || return 1
    # from the folder, and a call
    tapped "$R/bundle/doctrove.pyz"
    isolated -- dsh plugin --profile headless add "$R/bundle" >"$R/add.log" 2>&1 || return 1
    isolated -- dsh --profile headless --dump-config >"$R/dump.log" 2>&1
    has '^# == doctrove-dsh' dump.log && has 'serverName: doctrove' dump.log || return 1
    probe_dsh probe.log || return 1
    with_model DEEPSEEK_API_KEY=dummy DEEPSEEK_BASE_URL=$MODEL -- dsh --profile headless 'use doctrove' >"$R/run.log" 2>&1
    has MODEL-DONE run.log
}

failed=0
for C in $WANT; do
    [ -n "${PACKAGE[$C]:-}" ] || { echo "unknown client: $C (there are: $ALL)" >&2; exit 1; }
    version=${PACKAGE[$C]##*@}
    if ! install_client "$C"; then
        printf '%-10s %-12s FAIL not installed\n' "$C" "$version"
        tail -n 20 "$KIT/$C/install.log" "$KIT/node/install.log" >&2
        failed=1
        continue
    fi
    new_client
    state=PASS
    "check_$C" || state=FAIL
    if [ "$C" = mcporter ] || [ "$C" = inspector ]; then model=(); else model=("$R/model.log"); fi
    report=$("$PY" "$HELP" report "$R/tap.log" "${model[@]}")
    case $report in *"call=ok"*) ;; *) state=FAIL ;; esac
    case $report in *model=NOT-SHOWN*) state=FAIL ;; esac
    case $report in "protocol=${PROTOCOL[$C]} "*) ;; *) state=FAIL report="$report (expected ${PROTOCOL[$C]})" ;; esac
    printf '%-10s %-12s %s %s\n' "$C" "$version" "$state" "$report"
    if [ "$state" = FAIL ]; then
        failed=1
        tail -n 15 "$R"/*.log >&2
    fi
done
exit $failed
