#!/usr/bin/env bash
# Makes a Docker engine available where it can, and says exactly what to install where it cannot.
# As root on Debian or Ubuntu: installs docker.io (and debootstrap for the base image), starts
# dockerd in a session of its own and waits until it answers. Anything that answers is left alone.
set -euo pipefail

ENGINE_WAIT_S=${ENGINE_WAIT_S:-60}
LOG=${ENGINE_LOG:-/var/log/agent-loop-dockerd.log}
RUN_DIR=${ENGINE_RUN_DIR:-/var/run}   # another folder only in tests

say() { echo "engine: $*" >&2; }

answers() { timeout 10 docker info >/dev/null 2>&1; }

lives() { # PID NAME: whether that process runs and is that program; not a number used again, and
    # not a zombie, which nobody collects on machines without an init system
    [ -n "$1" ] && [ -r "/proc/$1/comm" ] && [ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ] &&
        ! grep -qE '^State:[[:space:]]+[ZX]' "/proc/$1/status" 2>/dev/null
}

# A killed dockerd leaves its number behind, and the next one then refuses to start.
clear_stale() { # FILE NAME
    if [ -f "$1" ] && ! lives "$(tr -cd '0-9' <"$1")" "$2"; then
        say "removing $1, left by a $2 that lives no more"
        rm -f "$1"
    fi
}

clear_all_stale() {
    clear_stale "$RUN_DIR/docker.pid" dockerd
    clear_stale "$RUN_DIR/docker/containerd/containerd.pid" containerd
}

missing_packages() { # those of the wanted packages that this Debian or Ubuntu lacks
    command -v dockerd >/dev/null || echo docker.io
    command -v debootstrap >/dev/null || echo debootstrap
    if [ "${WITH_RUNSC:-0}" = 1 ] && ! command -v runsc >/dev/null; then echo runsc; fi
}

install_packages() {
    local wanted
    wanted=$(missing_packages | tr '\n' ' ')
    [ -n "${wanted// /}" ] || return 0
    say "installing $wanted"
    export DEBIAN_FRONTEND=noninteractive
    # Nothing of a package may start by itself: this may be a machine without an init system.
    apt-get update -qq
    # shellcheck disable=SC2086
    apt-get install -y -qq --no-install-recommends $wanted iptables ca-certificates >/dev/null
}

start_by_service() {
    [ -d /run/systemd/system ] && systemctl start docker >/dev/null 2>&1
}

start_by_hand() {
    clear_all_stale
    # No console, no standard input, a session of its own: it must outlive this script.
    setsid --fork dockerd >>"$LOG" 2>&1 </dev/null
}

wait_for_answer() {
    local end=$((SECONDS + ENGINE_WAIT_S))
    until answers; do
        if [ "$SECONDS" -ge "$end" ]; then
            say "dockerd did not answer within $ENGINE_WAIT_S s. Its last words ($LOG):"
            tail -n 15 "$LOG" >&2 2>/dev/null || true
            exit 3
        fi
        sleep 0.5
    done
}

advise() {
    case "$(uname -s)" in
        Darwin) say "install Docker Desktop, or: brew install colima docker && colima start" ;;
        MINGW* | MSYS* | CYGWIN*) say "install Docker Desktop with its WSL 2 engine, and start it" ;;
        *)
            if command -v docker >/dev/null; then
                say "Docker is installed but does not answer: $(timeout 10 docker info 2>&1 | tail -n 1)"
                say "start it (sudo systemctl start docker), or join its group (sudo usermod -aG docker \$USER) and log in again,"
                say "or run this script as root: sudo bash sandbox/engine.sh"
            elif [ -r /etc/debian_version ]; then
                say "run as root: sudo bash sandbox/engine.sh   (installs docker.io and starts it)"
            else
                say "install Docker Engine with your package manager (dnf install moby-engine, pacman -S docker, apk add docker ...) and start it"
            fi
            ;;
    esac
    say "an engine that listens elsewhere: export DOCKER_HOST=unix:///path/to/docker.sock"
    exit 3
}

main() {
    if answers; then
        say "an engine answers"
    elif [ -n "${DOCKER_HOST:-}" ]; then
        say "DOCKER_HOST=$DOCKER_HOST does not answer. Start that engine, or unset DOCKER_HOST"
        exit 3
    elif [ "$(uname -s)" = Linux ] && [ "$(id -u)" = 0 ] && [ -r /etc/debian_version ]; then
        install_packages
        answers || start_by_service || start_by_hand
        wait_for_answer
        say "an engine answers"
    else
        advise
    fi
    # The base image is built from packages where no registry answers.
    if [ "$(id -u)" = 0 ] && [ -r /etc/debian_version ] && ! command -v debootstrap >/dev/null; then
        install_packages || say "debootstrap could not be installed: the base image must be pulled"
    fi
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then main; fi
