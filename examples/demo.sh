#!/usr/bin/env bash
# From real pages to a dataset of single-action examples: record, build, look. About two minutes on two cores.
set -euo pipefail
cuadata=${CUADATA:-.venv/bin/cuadata}
out=${1:-demo}
run() { printf '\n$ cuadata %s\n' "$*" >&2; "$cuadata" "$@"; }

# Pages under cookie banners and pop-ups; a code to reveal and enter; tasks of MiniWoB++, which nobody here wrote.
run rollout overlays --policy oracle --seeds 0:3 --out "$out/recordings/overlays"
run rollout code_entry --policy oracle --seeds 0:3 --out "$out/recordings/code_entry"
run rollout miniwob-click-checkboxes --policy all_boxes --seeds 0:3 --out "$out/recordings/checkboxes"
# The same kinds with actions that fail: the fake close button, the same click again and again.
run rollout overlays --policy oracle --set path=fake_close --seeds 3:5 --out "$out/recordings/fake_close"
run rollout overlays --policy oracle --set path=repeat_click --seeds 5:7 --out "$out/recordings/repeat_click"

run build --source recordings "$out/recordings" --out "$out/dataset" --report --force
run stats "$out/dataset"
printf '\nThe report with pictures: %s\n' "$out/dataset/report/index.html"
