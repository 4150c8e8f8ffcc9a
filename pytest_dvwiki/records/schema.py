"""The schema of the tables that aggregate the records."""

from __future__ import annotations

VERSION = 44
"""Incremented with every change to the tables or their contents."""

# Tables with long texts have rowids: WITHOUT ROWID would put whole rows into the upper levels of the tree.
SCHEMA = """
CREATE TABLE verdicts (state TEXT, reclassified TEXT);
CREATE TABLE names (fingerprint TEXT PRIMARY KEY, became TEXT, learned INTEGER) WITHOUT ROWID;
CREATE TABLE splits (former TEXT, fingerprint TEXT, PRIMARY KEY (former, fingerprint)) WITHOUT ROWID;
CREATE INDEX splits_by_cause ON splits (fingerprint);
CREATE TABLE aliases (fingerprint TEXT PRIMARY KEY, became TEXT) WITHOUT ROWID;
CREATE INDEX aliases_by_cause ON aliases (became);
CREATE TABLE folders (path TEXT PRIMARY KEY, mtime_ns INTEGER, settled INTEGER) WITHOUT ROWID;
CREATE TABLE files (
  id INTEGER PRIMARY KEY, folder TEXT, name TEXT, size INTEGER, mtime_ns INTEGER, digest BLOB, problem TEXT,
  UNIQUE (folder, name));
CREATE INDEX files_with_problem ON files (folder, name) WHERE problem != '';
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, moment TEXT UNIQUE, task_id TEXT UNIQUE, finished TEXT, vcs_commit TEXT, branch TEXT,
  source_commit TEXT, dirty INTEGER, changes TEXT, edited TEXT, edited_lines TEXT, simulators TEXT, run_id TEXT,
  totals TEXT, axes TEXT);
CREATE INDEX runs_by_commit ON runs (vcs_commit, moment);
CREATE INDEX runs_by_source_commit ON runs (source_commit, moment);
CREATE TABLE suites (
  run INTEGER, moment TEXT, simulator TEXT, config TEXT, seed TEXT, marks TEXT, suite TEXT,
  PRIMARY KEY (run, simulator, config, suite)) WITHOUT ROWID;
CREATE INDEX suites_by_list ON suites (suite, moment);
CREATE TABLE sources (sha256 TEXT, run INTEGER, written INTEGER, PRIMARY KEY (sha256, run)) WITHOUT ROWID;
CREATE INDEX sources_by_run ON sources (run);
CREATE TABLE places (run INTEGER, file INTEGER, PRIMARY KEY (run, file)) WITHOUT ROWID;
CREATE INDEX places_by_file ON places (file);
CREATE TABLE occurrences (
  fingerprint TEXT, moment TEXT, run INTEGER, subtype TEXT, error_class TEXT, pattern TEXT, tests INTEGER, names TEXT,
  seeds TEXT, without_fix INTEGER, regressed INTEGER, deterministic INTEGER, seconds REAL, unseeded INTEGER,
  origin TEXT, part INTEGER, values_hash TEXT,
  PRIMARY KEY (fingerprint, moment)) WITHOUT ROWID;
CREATE INDEX occurrences_by_subtype ON occurrences (subtype, moment);
CREATE INDEX occurrences_by_label ON occurrences (subtype, pattern, moment);
CREATE INDEX occurrences_by_pattern ON occurrences (pattern, moment);
CREATE INDEX occurrences_by_run ON occurrences (run);
CREATE TABLE tallies (
  subtype TEXT, kind TEXT, name TEXT, runs INTEGER, tests INTEGER, PRIMARY KEY (subtype, kind, name)) WITHOUT ROWID;
CREATE TABLE causes (fingerprint TEXT PRIMARY KEY, newest TEXT, pattern TEXT) WITHOUT ROWID;
CREATE INDEX causes_by_newest ON causes (newest);
CREATE INDEX causes_by_pattern ON causes (pattern, newest, fingerprint);
CREATE TABLE details (fingerprint TEXT PRIMARY KEY, moment TEXT, occurrence TEXT, words TEXT);
CREATE TABLE newest_tests (nodeid TEXT, fingerprint TEXT, PRIMARY KEY (nodeid, fingerprint)) WITHOUT ROWID;
CREATE INDEX newest_tests_by_cause ON newest_tests (fingerprint);
CREATE TABLE failed (
  nodeid TEXT, fingerprint TEXT, moment TEXT, run INTEGER, seed TEXT, simulator TEXT, config TEXT, part INTEGER,
  PRIMARY KEY (nodeid, fingerprint, moment, simulator, config, seed)) WITHOUT ROWID;
CREATE INDEX failed_by_run ON failed (run, nodeid);
CREATE INDEX failed_by_cause ON failed (fingerprint, nodeid, simulator, config, moment);
CREATE TABLE identities (fingerprint TEXT, former TEXT, run INTEGER, PRIMARY KEY (former, fingerprint, run))
  WITHOUT ROWID;
CREATE INDEX identities_by_run ON identities (run);
CREATE TABLE checks (
  fingerprint TEXT, run INTEGER, spot TEXT, statement TEXT, sources TEXT, family TEXT, words TEXT, file TEXT,
  line INTEGER, function TEXT, source TEXT, fresh INTEGER, PRIMARY KEY (fingerprint, run));
CREATE INDEX checks_by_family ON checks (family, fingerprint);
CREATE INDEX checks_by_run ON checks (run);
CREATE INDEX checks_fresh ON checks (family) WHERE fresh;
CREATE TABLE other (
  run INTEGER, nodeid TEXT, outcome TEXT, simulator TEXT, config TEXT, causes TEXT, attempts TEXT,
  PRIMARY KEY (run, nodeid, simulator, config))
  WITHOUT ROWID;
CREATE INDEX other_by_test ON other (nodeid, outcome);
CREATE TABLE passed_again (
  fingerprint TEXT, moment TEXT, nodeid TEXT, run INTEGER, changed TEXT, proof INTEGER, seed TEXT, failed_seed TEXT,
  same_seed INTEGER, simulator TEXT, config TEXT, named TEXT,
  PRIMARY KEY (fingerprint, moment, nodeid, simulator, config)) WITHOUT ROWID;
CREATE INDEX passed_again_by_test ON passed_again (nodeid, fingerprint, moment);
CREATE INDEX passed_again_in_order ON passed_again (nodeid, moment);
CREATE INDEX passed_again_by_run ON passed_again (run);
CREATE TABLE fix_rows (
  number INTEGER, run INTEGER, moment TEXT, fingerprint TEXT, subtype TEXT, row TEXT, named TEXT,
  PRIMARY KEY (run, number));
CREATE INDEX fix_rows_by_fingerprint ON fix_rows (fingerprint);
CREATE INDEX fix_rows_by_subtype ON fix_rows (subtype);
CREATE TABLE waived (
  fingerprint TEXT, moment TEXT, number INTEGER, run INTEGER, row TEXT, part INTEGER,
  PRIMARY KEY (fingerprint, moment, number));
CREATE INDEX waived_by_run ON waived (run);
CREATE TABLE first_bad (
  fingerprint TEXT, moment TEXT, run INTEGER, row TEXT, named TEXT, PRIMARY KEY (fingerprint, moment));
CREATE TABLE since_fix (
  fingerprint TEXT, run INTEGER, since TEXT, files TEXT, file_count INTEGER, passed TEXT, in_place INTEGER,
  same_stimulus INTEGER, named TEXT, part INTEGER,
  PRIMARY KEY (fingerprint, run, part, since, named)) WITHOUT ROWID;
CREATE INDEX since_fix_by_run ON since_fix (run);
CREATE TABLE undone (
  fingerprint TEXT, run INTEGER, part INTEGER, task_id TEXT, PRIMARY KEY (run, fingerprint, part, task_id))
  WITHOUT ROWID;
CREATE TABLE noise (text TEXT, test TEXT, run INTEGER, PRIMARY KEY (text, test, run)) WITHOUT ROWID;
CREATE INDEX noise_by_run ON noise (run);
CREATE TABLE several (fingerprint TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE further (fingerprint TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX first_bad_by_run ON first_bad (run);
CREATE TABLE coverage (
  covergroup TEXT, bin TEXT, moment TEXT, number INTEGER, run INTEGER, row TEXT,
  PRIMARY KEY (covergroup, bin, moment, number));
CREATE INDEX coverage_by_run ON coverage (run);
CREATE TABLE fix_states (
  fingerprint TEXT PRIMARY KEY, subtype TEXT, pattern TEXT, held INTEGER, failed INTEGER, newest TEXT, holding TEXT,
  until TEXT, states TEXT);
CREATE INDEX fix_states_by_subtype ON fix_states (subtype, newest, fingerprint, held, failed);
CREATE INDEX fix_states_by_pattern ON fix_states (pattern, holding, fingerprint);
CREATE INDEX fix_states_by_end ON fix_states (until);
CREATE TABLE fix_tests (nodeid TEXT, fingerprint TEXT, PRIMARY KEY (nodeid, fingerprint)) WITHOUT ROWID;
CREATE INDEX fix_tests_by_cause ON fix_tests (fingerprint);
CREATE TABLE fix_commits (name TEXT, fingerprint TEXT, PRIMARY KEY (name, fingerprint)) WITHOUT ROWID;
CREATE INDEX fix_commits_by_cause ON fix_commits (fingerprint);
CREATE TABLE proposals (fingerprint TEXT PRIMARY KEY, source TEXT, moment TEXT) WITHOUT ROWID;
CREATE INDEX proposals_by_source ON proposals (source)
"""
