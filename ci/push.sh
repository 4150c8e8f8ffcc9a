#!/bin/sh
# Push the records that this checkout has committed (pytest --dvwiki-commit) to a branch of a remote repository, and try
# again if another job was faster. With --build, also make the pages of all records there. The checkout does not change:
# the script works in a temporary work tree.
#
#   push.sh [--build] REMOTE BRANCH
set -eu
build=no
[ "$1" != --build ] || { build=yes; shift; }
remote=$1 branch=$2 prefix=$(git rev-parse --show-prefix) attempts=${DVWIKI_PUSH_ATTEMPTS:-50}
mine=$(git rev-parse HEAD)
git config user.email >/dev/null || {
    export GIT_AUTHOR_NAME=pytest-dvwiki GIT_AUTHOR_EMAIL=pytest-dvwiki@localhost
    export GIT_COMMITTER_NAME=pytest-dvwiki GIT_COMMITTER_EMAIL=pytest-dvwiki@localhost
}
# In a shallow clone, fetch the branch back to its oldest commit; otherwise commits pushed long ago would look new.
since=$([ "$(git rev-parse --is-shallow-repository)" = false ] || git log --format=--shallow-since=@%ct | tail -1)
get() { git fetch --quiet $1 "$remote" "refs/heads/$branch"; }
place=$(mktemp -d)
trap 'rm -rf "$place"; git worktree prune' EXIT
git worktree add --quiet --force --detach "$place/tree" HEAD
tree() { git -C "$place/tree" -c core.hooksPath=/dev/null -c commit.gpgSign=false "$@"; }
last='' refusals=0

for attempt in $(seq "$attempts"); do
    get "$since" 2>/dev/null || get "${since:+--depth=1}" # the whole branch may be older
    tip=$(git rev-parse FETCH_HEAD)
    [ "$tip" = "$last" ] && refusals=$((refusals + 1)) || refusals=0
    [ $refusals -lt 5 ] || break # no other job was faster: the push is refused for another reason
    last=$tip
    tree reset --quiet --hard "$tip"
    # One parent: no merge, and not the commit at which a shallow clone ends, which would add all its files.
    for commit in $(tree rev-list --reverse --right-only --cherry-pick --min-parents=1 --max-parents=1 \
        --grep='^Dvwiki-Task: ' "$tip...$mine"); do
        tree cherry-pick --keep-redundant-commits "$commit" >/dev/null 2>&1 || [ $build = yes ] || {
            echo "push.sh: $commit holds pages, which merge only with --build; shards use --dvwiki-archive=record" >&2
            exit 1
        }
        if tree rev-parse --quiet --verify CHERRY_PICK_HEAD >/dev/null; then
            (cd "$place/tree/$prefix" && dvwiki build >/dev/null)
            tree add --all
            tree -c core.editor=true cherry-pick --continue >/dev/null
        fi
        tree diff --quiet HEAD^ HEAD && tree reset --quiet --hard HEAD^ # another clone has pushed it
    done
    if [ $build = yes ] && [ -n "$(tree ls-files "$prefix*tasks/2*.yaml")" ]; then
        (cd "$place/tree/$prefix" && dvwiki build >/dev/null)
        tree add --all
        tree diff --cached --quiet || tree commit --quiet -m "dvwiki: pages of all records"
    fi
    [ "$(tree rev-parse HEAD)" != "$tip" ] || { echo "push.sh: $branch is up to date"; exit 0; }
    if git push --quiet --no-verify "$remote" "$(tree rev-parse HEAD):refs/heads/$branch" 2>"$place/refused"; then
        echo "push.sh: pushed to $branch, attempt $attempt"
        exit 0
    fi
    sleep "$(awk "BEGIN { srand($$ * 1000 + $attempt); print rand() * ($attempt < 5 ? $attempt : 5) / 2 }")"
done
cat "$place/refused" >&2
echo "push.sh: nothing was pushed after $attempt attempts" >&2
exit 1
