#!/usr/bin/env bash
# From real pages to a dataset of single-action examples: record, build, look. About two minutes on two cores.
set -euo pipefail
cuadata=${CUADATA:-.venv/bin/cuadata}
out=${1:-demo}
run() { printf '\n$ cuadata %s\n' "$*" >&2; "$cuadata" "$@"; }

# Pages under cookie banners and pop-ups; a code to reveal and enter; a long dialog to choose in.
run rollout overlays --policy oracle --seeds 0:2 --out "$out/recordings/overlays"
run rollout code_entry --policy oracle --seeds 0:2 --out "$out/recordings/code_entry"
run rollout modal --policy oracle --seeds 0:2 --out "$out/recordings/modal"
# Tasks of MiniWoB++, which nobody here wrote. In the last one every box is ticked, whatever was asked.
for task in choose-list click-dialog-2 click-option enter-text login-user; do
  run rollout "miniwob-$task" --policy oracle --seeds 0:2 --out "$out/recordings/$task"
done
run rollout miniwob-click-checkboxes --policy all_boxes --seeds 0:2 --out "$out/recordings/all_boxes"
# Actions that do nothing: a close button that is a fake, the same choice clicked again and again.
run rollout overlays --policy oracle --set path=fake_close --seeds 3:4 --out "$out/recordings/fake_close"
run rollout modal --policy oracle --set path=repeat_click --seeds 5:6 --out "$out/recordings/repeat_click"

run build --source recordings "$out/recordings" --out "$out/dataset" --report --force
run stats "$out/dataset"
printf '\nThe report with pictures: %s\n' "$out/dataset/report/index.html"
