-- The life of an exception: who has it, who has seen it, what was written about it, when it opened and closed and why.
alter table exceptions add column acknowledged_at timestamptz;
alter table exceptions add column acknowledged_by text not null default '';
-- Who closed it; empty while it is open, and where facts or a watch did.
alter table exceptions add column closed_by text not null default '';

-- Some exceptions are found by looking (silence, stuck work) and not told by anything that arrives.
alter table exceptions drop constraint exceptions_origin;
alter table exceptions add constraint exceptions_origin check (origin in ('rules', 'receive', 'settle', 'effects', 'operator', 'watch'));

-- History of an exception, append-only. Openings and closings are written by the statement that does them.
create table exception_notes (
  id bigint generated always as identity,
  exception_id bigint not null,
  noted_at timestamptz not null,
  occurrence integer not null,
  bucket smallint not null,
  kind text not null constraint exception_notes_kind
    check (kind in ('opened', 'reopened', 'escalated', 'acknowledged', 'assigned', 'note', 'closed', 'resolved')),
  -- Empty where no person did it.
  actor text not null default '',
  -- The message at an opening; the owner, the note, the reason of what a person did.
  words text not null default '',
  primary key (id, bucket)
);
create index exception_notes_of_exception on exception_notes (exception_id, bucket);

-- Whose turn a watch is: one process at a time looks, and the others see that it was done.
create table watch_rounds (
  due_at timestamptz not null,
  bucket smallint not null,
  watch text not null constraint watch_rounds_watch check (watch <> ''),
  primary key (watch, bucket)
);

-- Signed deliveries that an endpoint refused since it last believed one. Written from memory once a minute, never on
-- the path of a delivery; deleted when an authentic one comes.
create table endpoint_refusals (
  first_refused_at timestamptz not null,
  last_refused_at timestamptz not null,
  refusals bigint not null,
  bucket smallint not null,
  tenant text not null constraint endpoint_refusals_tenant check (tenant <> ''),
  endpoint text not null constraint endpoint_refusals_endpoint check (endpoint <> ''),
  primary key (endpoint, tenant, bucket)
);

-- Disputes that wait for an answer, by when it is due.
create index disputes_to_answer on disputes (respond_by, bucket) where status = 'needs_response' and respond_by is not null;
-- Alerts that wait or went out lately, for digests. Only rows about exceptions stand in it.
create index effects_alerts on effects (finished_at, id, bucket) where topic = 'exception.opened';
