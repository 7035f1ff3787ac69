#!/usr/bin/env bash
# Set maxmemory to 2 GB and the policy to allkeys-lru, and write both to the configuration file.
set -euo pipefail

redis-cli CONFIG GET 'maxmemory*'
redis-cli CONFIG SET maxmemory-policy allkeys-lru
redis-cli CONFIG SET maxmemory 2gb
redis-cli CONFIG REWRITE
redis-cli CONFIG GET 'maxmemory*'
