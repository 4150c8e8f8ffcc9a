#!/bin/sh
# Slurm: a job array over one workspace on NFS, then one job that makes the pages. (LSF: bsub -J "nightly[1-32]", bsub -w.)
export DVWIKI_ENABLED=yes DVWIKI_TASK=nightly DVWIKI_WIKI_DIR="${DVWIKI_WIKI_DIR:-/proj/soc/dvwiki/wiki}"
array=$(sbatch --parsable --array=1-32 --export=ALL,DVWIKI_ARCHIVE=record --wrap 'pytest tests/shard_$SLURM_ARRAY_TASK_ID')
sbatch --dependency="afterany:$array" --wrap 'dvwiki build'
