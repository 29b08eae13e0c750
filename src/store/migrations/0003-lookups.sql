-- What is to be asked of a provider, and what it said. One row per object: a question that is open already is not asked
-- twice, and one that is asked for again while the answer is on its way is asked again afterwards.
create table lookups (
  id bigint generated always as identity,
  -- When it is asked next; null when nobody wants to know anything more.
  due_at timestamptz,
  asked_for_at timestamptz not null,
  -- How often it was asked for. An answer serves what was asked for before the request was sent, and nothing later.
  wanted bigint not null default 1,
  -- Answers that were stored; the next one has the next number.
  answers integer not null default 0,
  -- Tries in a row that came to nothing.
  attempts integer not null default 0,
  bucket smallint not null,
  tenant text not null constraint lookups_tenant check (tenant <> ''),
  namespace text not null constraint lookups_namespace check (namespace <> ''),
  account text not null constraint lookups_account check (account <> ''),
  object text not null constraint lookups_object check (object <> ''),
  object_id text not null constraint lookups_object_id check (object_id <> ''),
  -- The endpoint whose credentials are used.
  endpoint text not null,
  asked_by text not null constraint lookups_asked_by check (asked_by in ('event', 'start', 'return', 'person', 'sweep')),
  last_outcome text not null default '',
  last_reason text not null default '',
  primary key (id, bucket),
  constraint lookups_asked_once unique (object_id, object, namespace, account, tenant, bucket)
) with (fillfactor = 70);
create index lookups_due on lookups (due_at, bucket) where due_at is not null;

-- Every answer, append-only: witnesses of kind `lookup` name one by the look-up's id and its number.
create table lookup_answers (
  lookup_id bigint not null,
  asked_at timestamptz not null,
  answered_at timestamptz not null,
  number integer not null,
  facts integer not null,
  bucket smallint not null,
  outcome text not null constraint lookup_answers_outcome
    check (outcome in ('found', 'not_found', 'unavailable', 'refused', 'unreadable')),
  reason text not null default '',
  primary key (lookup_id, number, bucket)
);

-- Messages that nothing in them proves, until the provider has said whether it sent them. Bounded per endpoint.
create table unconfirmed (
  id bigint generated always as identity,
  received_at timestamptz not null,
  due_at timestamptz not null,
  attempts integer not null default 0,
  bucket smallint not null,
  tenant text not null constraint unconfirmed_tenant check (tenant <> ''),
  endpoint text not null constraint unconfirmed_endpoint check (endpoint <> ''),
  digest bytea not null,
  headers jsonb not null,
  body bytea not null,
  primary key (id, bucket),
  constraint unconfirmed_once unique (digest, endpoint, tenant, bucket)
);
create index unconfirmed_due on unconfirmed (due_at, bucket);
create index unconfirmed_of_endpoint on unconfirmed (endpoint, bucket);
