-- Reconciliation: what a provider's own lists, or its settlement files, say against what we know.

-- One run over one window of one provider account, or over one file.
create table reconciliations (
  id bigint generated always as identity,
  started_at timestamptz not null,
  finished_at timestamptz,
  -- The window that is listed, half open; null for a file.
  from_at timestamptz,
  to_at timestamptz,
  -- The time of the schedule that this run is for; null where a person asked for it.
  scheduled_for timestamptz,
  -- Whose run it is until then; afterwards another process may go on with it.
  lease_until timestamptz not null,
  -- When a scheduled run that failed is tried again; null for never.
  retry_at timestamptz,
  -- Counts who took the run on: only the newest may write.
  attempt integer not null default 1,
  bucket smallint not null,
  tenant text not null constraint reconciliations_tenant check (tenant <> ''),
  namespace text not null constraint reconciliations_namespace check (namespace <> ''),
  account text not null constraint reconciliations_account check (account <> ''),
  -- The endpoint whose credentials are used.
  endpoint text not null constraint reconciliations_endpoint check (endpoint <> ''),
  source text not null constraint reconciliations_source check (source in ('list', 'file')),
  -- SHA-256 of a file in hexadecimal; empty for a list.
  source_digest text not null default '',
  state text not null constraint reconciliations_state check (state in ('running', 'done', 'failed')),
  -- Why it failed.
  reason text not null default '',
  -- Items by kind and class.
  counts jsonb not null default '{}',
  primary key (id, bucket)
);
create unique index reconciliations_one_at_a_time on reconciliations (namespace, account, tenant, bucket) where state = 'running';
create unique index reconciliations_scheduled_once on reconciliations (scheduled_for, namespace, account, tenant, bucket)
  where scheduled_for is not null;

-- What a run has seen so far, so that its other direction (what do we know that was not listed?) needs no memory and a
-- run that goes on after a crash counts nothing twice. Emptied when the run ends.
create table reconciliation_items (
  reconciliation_id bigint not null,
  bucket smallint not null,
  kind text not null,
  item_id text not null constraint reconciliation_items_item_id check (item_id <> ''),
  class text not null,
  -- Of amount, currency and state: one object listed with two contents.
  digest bytea not null,
  primary key (reconciliation_id, item_id, kind, bucket)
);

-- Windows that were listed to their end. Only where one of these lies does absence mean anything.
create table reconciliation_coverage (
  reconciliation_id bigint not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  listed_at timestamptz not null,
  -- How much later than it happens something may appear in the list, milliseconds.
  lag_ms bigint not null,
  listed bigint not null,
  bucket smallint not null,
  tenant text not null,
  namespace text not null,
  account text not null,
  kind text not null constraint reconciliation_coverage_kind check (kind in ('payments', 'refunds', 'disputes')),
  -- By which time the provider lists.
  criterion text not null constraint reconciliation_coverage_criterion check (criterion in ('created', 'moved', 'unknown')),
  primary key (reconciliation_id, kind, bucket)
);
create index reconciliation_coverage_newest on reconciliation_coverage (namespace, account, kind, to_at desc, bucket);

-- Where the two sides differ. One row per object; it opens again rather than doubles.
create table reconciliation_breaks (
  id bigint generated always as identity,
  -- The run that saw it last.
  reconciliation_id bigint not null,
  first_found_at timestamptz not null,
  found_at timestamptz not null,
  -- A difference in timing is no more than that until then.
  expires_at timestamptz,
  closed_at timestamptz,
  occurrence integer not null default 1,
  bucket smallint not null,
  tenant text not null constraint reconciliation_breaks_tenant check (tenant <> ''),
  namespace text not null constraint reconciliation_breaks_namespace check (namespace <> ''),
  account text not null constraint reconciliation_breaks_account check (account <> ''),
  endpoint text not null,
  kind text not null constraint reconciliation_breaks_kind check (kind in ('payments', 'refunds', 'disputes')),
  item_id text not null constraint reconciliation_breaks_item_id check (item_id <> ''),
  -- The provider's id of the payment that it belongs to; empty where nobody knows.
  payment text not null default '',
  class text not null constraint reconciliation_breaks_class check (class in ('missing_internal', 'missing_external',
    'amount_mismatch', 'currency_mismatch', 'status_mismatch', 'timing_difference', 'duplicate_external',
    'duplicate_internal', 'unexplained_refund', 'fee_or_fx_difference', 'unverifiable')),
  state text not null constraint reconciliation_breaks_state check (state in ('open', 'explained', 'resolved', 'written_off')),
  our_status text not null default '',
  their_status text not null default '',
  our_minor numeric(78, 0),
  their_minor numeric(78, 0),
  our_currency text not null default '',
  their_currency text not null default '',
  -- Where it was seen: `file <digest> line <n>`, or empty for a list.
  place text not null default '',
  -- Who explained it or wrote it off, and why; the run where facts did.
  actor text not null default '',
  reason text not null default '',
  primary key (id, bucket),
  constraint reconciliation_breaks_found_once unique (item_id, kind, namespace, account, tenant, bucket)
) with (fillfactor = 80);
create index reconciliation_breaks_open on reconciliation_breaks (found_at, bucket) where state = 'open';

-- How far a sweep that walks a table has come, and whose turn it is.
create table sweep_rounds (
  due_at timestamptz not null,
  -- Nothing below this id needs to be looked at again.
  position bigint not null default 0,
  bucket smallint not null,
  sweep text not null constraint sweep_rounds_sweep check (sweep <> ''),
  primary key (sweep, bucket)
);

alter table witnesses drop constraint witnesses_source_kind;
alter table witnesses add constraint witnesses_source_kind
  check (source_kind in ('event', 'merchant', 'lookup', 'operation', 'decision', 'timer', 'reconciliation'));
alter table exceptions drop constraint exceptions_origin;
alter table exceptions add constraint exceptions_origin
  check (origin in ('rules', 'receive', 'settle', 'effects', 'operator', 'watch', 'operations', 'reconcile'));
