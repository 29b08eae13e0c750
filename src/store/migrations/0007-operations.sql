-- Have we asked for this charge or refund? Charges and refunds that we ask a provider for; the row and its key are there
-- before the request is sent.
create table operations (
  id bigint generated always as identity,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  finished_at timestamptz,
  -- When a worker takes it next; while one has it in hand, the end of its lease. Null when nobody has to: it is over, or a
  -- person has to say something first.
  due_at timestamptz,
  -- When its outcome became unknown; null while it is not.
  unknown_since timestamptz,
  -- Number of the present attempt, which makes the key that the provider sees; the next one only after a definitive no.
  attempt integer not null default 1 constraint operations_attempt check (attempt > 0),
  -- Times in a row that a worker took it and could not end it.
  tries integer not null default 0,
  bucket smallint not null,
  -- A person has confirmed a refund although a dispute is open.
  confirmed boolean not null default false,
  lease_token uuid,
  params_digest bytea not null,
  tenant text not null constraint operations_tenant check (tenant <> ''),
  operation_key text not null constraint operations_operation_key check (operation_key <> ''),
  kind text not null constraint operations_kind check (kind in ('refund', 'charge')),
  state text not null constraint operations_state
    check (state in ('planned', 'in_flight', 'succeeded', 'failed_definitive', 'unknown', 'abandoned', 'superseded')),
  endpoint text not null constraint operations_endpoint check (endpoint <> ''),
  namespace text not null constraint operations_namespace check (namespace <> ''),
  account text not null constraint operations_account check (account <> ''),
  -- The payment that is given back; for a charge, empty until the provider has named the one that it made.
  provider_payment_id text not null default '',
  -- The order that is charged; empty for a refund.
  order_ref text not null default '',
  currency text not null constraint operations_currency check (currency <> ''),
  amount_minor numeric(78, 0) not null constraint operations_amount_minor check (amount_minor > 0),
  -- The provider's id of what it made: of the refund, or of the payment.
  provider_id text not null default '',
  -- Why it is where it is: the provider's code, or ours.
  code text not null default '',
  reason text not null default '',
  -- What else the request holds: reason, customer, means of payment. Ids and codes, no personal data.
  params jsonb not null,
  primary key (id, bucket),
  constraint operations_asked_once unique (operation_key, tenant, bucket),
  constraint operations_name_one check (case kind when 'refund' then provider_payment_id <> '' and order_ref = '' else order_ref <> '' end)
) with (fillfactor = 70);
create index operations_due on operations (due_at, bucket) where due_at is not null;
-- No second charge of an order while one is unresolved, under whatever key.
create unique index operations_one_charge on operations (order_ref, tenant, bucket)
  where kind = 'charge' and state in ('planned', 'in_flight', 'unknown');
-- What reserves the money of a payment, or has charged an order.
create index operations_of_payment on operations (provider_payment_id, namespace, account, bucket) where provider_payment_id <> '';
create index operations_of_order on operations (order_ref, bucket) where order_ref <> '';

-- Every request that was sent, written before it is sent; what came of it is added. Nothing else is changed and nothing
-- is deleted: witnesses of kind `operation` name one by the operation's id and the request's number.
create table operation_requests (
  operation_id bigint not null,
  sent_at timestamptz not null,
  ended_at timestamptz,
  number integer not null,
  attempt integer not null,
  bucket smallint not null,
  -- It gives back all that is left; a repeat under the same key says the same.
  whole boolean not null default false,
  -- The key that the provider sees, made from the operation's key and the attempt.
  provider_key text not null constraint operation_requests_provider_key check (provider_key <> ''),
  outcome text not null default '' constraint operation_requests_outcome
    check (outcome in ('', 'accepted', 'declined', 'unknown', 'not_sent')),
  reason text not null default '',
  primary key (operation_id, number, bucket)
);
-- Whose is a refund that carries this key?
create index operation_requests_of_key on operation_requests (provider_key, bucket);

-- What people said about an operation, append-only.
create table operation_notes (
  id bigint generated always as identity,
  operation_id bigint not null,
  noted_at timestamptz not null,
  bucket smallint not null,
  said text not null constraint operation_notes_said check (said in ('succeeded', 'failed', 'retry', 'confirmed', 'abandoned')),
  actor text not null constraint operation_notes_actor check (actor <> ''),
  words text not null constraint operation_notes_words check (words <> ''),
  primary key (id, bucket)
);
create index operation_notes_of_operation on operation_notes (operation_id, bucket);

-- Exceptions about operations.
alter table exceptions drop constraint exceptions_subject_kind;
alter table exceptions add constraint exceptions_subject_kind check (subject_kind in ('payment', 'order', 'subscription', 'event', 'endpoint', 'effect', 'installation', 'operation'));
alter table exceptions drop constraint exceptions_origin;
alter table exceptions add constraint exceptions_origin check (origin in ('rules', 'receive', 'settle', 'effects', 'operator', 'watch', 'operations'));
