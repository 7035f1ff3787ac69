#!/usr/bin/env bash
# Hold the kernel's meta packages, so that upgrades leave the kernel alone.
set -euo pipefail

sudo apt-mark hold linux-image-generic linux-headers-generic
apt-mark showhold
