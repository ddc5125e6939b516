#!/usr/bin/env bash
# 540 recordings of the gauntlet become about 27,000 phase-labelled single-action examples.
# Usage: examples/gauntlet_27k.sh [RECORDINGS] [FOLDER]; 540 and ./gauntlet by default. Both steps resume.
set -euo pipefail
recordings=${1:-540}
folder=${2:-gauntlet}

cuadata rollout gauntlet --policy oracle --n "$recordings" --workers 3 --browsers 2 --out "$folder/recordings"
cuadata build --source recordings "$folder/recordings" --out "$folder/dataset"
