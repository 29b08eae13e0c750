-- The spine: what arrived, what it states, what follows from it, what is to be done about it.
--
-- Every key holds `bucket` (a stable hash of the tenant; 0 on a single server), so that the tables can be distributed.
-- Natural keys hold the tenant too; keys on our own ids need not, since an id belongs to one tenant.
-- No foreign keys on the settling path: each is one more look-up and one more shared lock per row, and facts inserted
-- under them deadlocked. Settling locks the subject's row before it writes anything about it; the audit checks the rest.
-- Key columns are NOT NULL and non-empty, so that a blank id can never become everyone's lock.

create table installation (
  only_row smallint not null default 1 constraint installation_has_one_row check (only_row = 1),
  mode text not null constraint installation_mode check (mode in ('live', 'test')),
  buckets smallint not null constraint installation_buckets check (buckets between 1 and 1024),
  -- Part of every revision told to the outside, so that a restored database does not reuse numbers.
  epoch bigint not null,
  created_at timestamptz not null,
  primary key (only_row)
);

-- Ids are handed out to a process in blocks of a thousand, so that a batch knows them before it inserts: rows that hang
-- together are written side by side, and an insert need only give back the ids of the rows that were new.
create sequence event_ids as bigint increment by 1000;
create sequence fact_ids as bigint increment by 1000;
-- One sequence for all subjects: an id names a payment, an order or a subscription, never two of them.
create sequence subject_ids as bigint increment by 1000;

-- Have we seen this message?
create table events (
  id bigint not null default nextval('event_ids'),
  received_at timestamptz not null,
  occurred_at timestamptz,
  adapter_version integer not null,
  bucket smallint not null,
  tenant text not null constraint events_tenant check (tenant <> ''),
  provider text not null constraint events_provider check (provider <> ''),
  account text not null constraint events_account check (account <> ''),
  mode text not null constraint events_mode check (mode in ('live', 'test')),
  event_key text not null constraint events_event_key check (event_key <> ''),
  -- `digest`: the message carries no id, or none where one was due; its key is the digest of its bytes.
  key_kind text not null constraint events_key_kind check (key_kind in ('id', 'digest')),
  endpoint text not null,
  type text not null,
  state text not null constraint events_state check (state in ('settled', 'kept', 'ignored', 'misdirected', 'unreadable')),
  reason text not null,
  secret_label text not null,
  api_version text,
  digest bytea not null,
  -- The few headers that the adapter reads facts from; null where it needs none. Never a signature.
  headers jsonb,
  -- Exactly the bytes received; null once retention has emptied it.
  body bytea,
  primary key (id, bucket),
  constraint events_seen_once unique (event_key, provider, account, mode, tenant, bucket)
);

-- Other contents that came under the same event key. The first content is version 1 and stands in events.
create table event_versions (
  event_id bigint not null,
  received_at timestamptz not null,
  version integer not null constraint event_versions_version check (version > 1),
  adapter_version integer not null,
  bucket smallint not null,
  digest bytea not null,
  body bytea,
  primary key (event_id, version, bucket),
  constraint event_versions_content_once unique (event_id, digest, bucket)
);

-- Further deliveries of an event that is known already. Append-only, so that a duplicate rewrites no body.
create table event_copies (
  event_id bigint not null,
  received_at timestamptz not null,
  copies integer not null,
  bucket smallint not null,
  primary key (event_id, received_at, bucket)
);

-- Have we recorded this money? A row exists as soon as anything refers to the payment.
create table payments (
  id bigint not null default nextval('subject_ids'),
  facts_rev bigint not null,
  -- The payment whose money this stand-in (an invoice, a session) is; null for a payment of its own.
  linked_to bigint,
  moved_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  open_exceptions integer not null default 0,
  bucket smallint not null,
  has_stand_ins boolean not null default false,
  -- Refund or dispute rows exist.
  has_returns boolean not null default false,
  tenant text not null constraint payments_tenant check (tenant <> ''),
  namespace text not null constraint payments_namespace check (namespace <> ''),
  account text not null constraint payments_account check (account <> ''),
  provider_payment_id text not null constraint payments_provider_payment_id check (provider_payment_id <> ''),
  status text not null,
  currency text,
  authorized_minor numeric(78, 0) not null default 0,
  captured_minor numeric(78, 0) not null default 0,
  refunded_minor numeric(78, 0) not null default 0,
  refund_pending_minor numeric(78, 0) not null default 0,
  disputed_minor numeric(78, 0) not null default 0,
  lost_minor numeric(78, 0) not null default 0,
  reversed_minor numeric(78, 0) not null default 0,
  -- Every order that its facts name; more than one is a conflict.
  order_refs text[] not null default '{}',
  primary key (id, bucket),
  constraint payments_recorded_once unique (provider_payment_id, namespace, account, tenant, bucket)
) with (fillfactor = 80);

create index payments_stand_ins on payments (linked_to, bucket) where linked_to is not null;

-- Have we recorded this refund?
create table refunds (
  id bigint generated always as identity,
  payment_id bigint not null,
  moved_at timestamptz,
  updated_at timestamptz not null,
  bucket smallint not null,
  tenant text not null,
  namespace text not null,
  account text not null,
  provider_refund_id text not null constraint refunds_provider_refund_id check (provider_refund_id <> ''),
  status text not null,
  amount_minor numeric(78, 0),
  currency text,
  origin text,
  primary key (id, bucket),
  constraint refunds_recorded_once unique (provider_refund_id, namespace, account, tenant, bucket)
);
create index refunds_of_payment on refunds (payment_id, bucket);

-- Have we recorded this dispute stage?
create table disputes (
  id bigint generated always as identity,
  payment_id bigint not null,
  respond_by timestamptz,
  updated_at timestamptz not null,
  bucket smallint not null,
  tenant text not null,
  namespace text not null,
  account text not null,
  provider_dispute_id text not null constraint disputes_provider_dispute_id check (provider_dispute_id <> ''),
  stage text not null,
  status text not null,
  amount_minor numeric(78, 0),
  currency text,
  withdrawn_minor numeric(78, 0) not null default 0,
  reinstated_minor numeric(78, 0) not null default 0,
  primary key (id, bucket),
  constraint disputes_recorded_once unique (provider_dispute_id, stage, namespace, account, tenant, bucket)
);
create index disputes_of_payment on disputes (payment_id, bucket);

-- What a buyer owes us and what they get for it. Without terms it is a placeholder: something refers to it already.
create table orders (
  id bigint not null default nextval('subject_ids'),
  facts_rev bigint not null,
  -- Numbers the effects of this order; taken under its lock, so it gives their order.
  effect_seq bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  next_wakeup_at timestamptz,
  open_exceptions integer not null default 0,
  bucket smallint not null,
  has_entitlements boolean not null default false,
  tenant text not null constraint orders_tenant check (tenant <> ''),
  reference text not null constraint orders_reference check (reference <> ''),
  status text not null,
  currency text,
  amount_minor numeric(78, 0),
  paid_minor numeric(78, 0) not null default 0,
  net_minor numeric(78, 0) not null default 0,
  surplus_minor numeric(78, 0) not null default 0,
  -- The payments that name this order. Here and not as an index on payments: one index less to write per payment.
  payment_ids bigint[] not null default '{}',
  -- What the facts about the order itself say (rules/order-state.ts, OrderBook); null for a placeholder.
  book jsonb,
  primary key (id, bucket),
  constraint orders_known_once unique (reference, tenant, bucket)
) with (fillfactor = 70);

create index orders_to_wake on orders (next_wakeup_at, bucket) where next_wakeup_at is not null;

create table subscriptions (
  id bigint not null default nextval('subject_ids'),
  facts_rev bigint not null,
  period_end timestamptz,
  cancel_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  open_exceptions integer not null default 0,
  bucket smallint not null,
  tenant text not null,
  namespace text not null,
  account text not null,
  provider_subscription_id text not null constraint subscriptions_provider_subscription_id check (provider_subscription_id <> ''),
  status text not null,
  primary key (id, bucket),
  constraint subscriptions_known_once unique (provider_subscription_id, namespace, account, tenant, bucket)
);

-- Have we recorded this statement? Insert-only.
create table facts (
  id bigint not null default nextval('fact_ids'),
  subject_id bigint not null,
  recorded_at timestamptz not null,
  bucket smallint not null,
  subject_kind text not null constraint facts_subject_kind check (subject_kind in ('payment', 'order', 'subscription')),
  kind text not null,
  fact_key text not null constraint facts_fact_key check (fact_key <> ''),
  content_digest bytea not null,
  content jsonb not null,
  primary key (id, bucket),
  constraint facts_stated_once unique (subject_id, fact_key, content_digest, bucket)
);

-- Who told it. The facts that the rules see are those with at least one witness.
create table witnesses (
  fact_id bigint not null,
  source_id bigint not null,
  source_version integer not null,
  bucket smallint not null,
  source_kind text not null constraint witnesses_source_kind check (source_kind in ('event', 'merchant', 'lookup', 'operation', 'decision', 'timer')),
  primary key (fact_id, source_kind, source_id, source_version, bucket)
);
create index witnesses_of_source on witnesses (source_id, bucket);

-- Events that are kept but not settled, and orders that wait to be looked at again. Only a settle that has read the
-- facts under the lock deletes a mark.
create table unsettled (
  id bigint generated always as identity,
  event_id bigint not null default 0,
  marked_at timestamptz not null,
  next_attempt_at timestamptz not null,
  attempts integer not null default 0,
  -- How often it was marked: a settle deletes the mark only as often as it was when it began to read.
  times integer not null default 1,
  bucket smallint not null,
  tenant text not null,
  order_ref text not null default '',
  reason text not null,
  last_error text not null default '',
  primary key (id, bucket),
  constraint unsettled_once unique (event_id, order_ref, tenant, bucket),
  constraint unsettled_names_one check ((event_id = 0) <> (order_ref = ''))
);
create index unsettled_due on unsettled (next_attempt_at, bucket);

-- Have we fulfilled this purchase?
create table entitlements (
  order_id bigint not null,
  revision bigint not null,
  updated_at timestamptz not null,
  quantity integer not null,
  bucket smallint not null,
  state text not null constraint entitlements_state check (state in ('none', 'granted', 'suspended', 'revoked', 'expired')),
  item text not null constraint entitlements_item check (item <> ''),
  primary key (order_id, item, bucket)
) with (fillfactor = 80);

-- Have we announced this change? The outbox.
create table effects (
  id bigint generated always as identity,
  subject_id bigint not null,
  -- Order inside (subject, lane), from the locked row of the subject.
  seq bigint not null,
  -- Level effects: the revision that they announce; 0 for one-shots.
  revision bigint not null,
  -- Not to be taken before; while a worker holds it, the end of its lease.
  available_at timestamptz not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  attempts integer not null default 0,
  bucket smallint not null,
  lease_token uuid,
  tenant text not null,
  subject_kind text not null,
  subject_key text not null,
  topic text not null constraint effects_topic check (topic <> ''),
  item text not null constraint effects_item check (item <> ''),
  -- One-shots: what makes it due. Level effects: the revision.
  cause text not null constraint effects_cause check (cause <> ''),
  lane text not null,
  state text not null constraint effects_state check (state in ('due', 'done', 'dead', 'withdrawn', 'superseded', 'discarded')),
  last_error text not null default '',
  payload jsonb not null,
  primary key (id, bucket),
  constraint effects_announced_once unique (subject_id, topic, item, cause, bucket)
) with (fillfactor = 80);
create index effects_due on effects (available_at, bucket) where state = 'due';

-- What a person must decide. One row per cause; it reopens rather than doubles.
create table exceptions (
  id bigint generated always as identity,
  subject_id bigint not null default 0,
  opened_at timestamptz not null,
  alert_at timestamptz not null,
  closed_at timestamptz,
  occurrence integer not null default 1,
  bucket smallint not null,
  tenant text not null,
  subject_kind text not null constraint exceptions_subject_kind check (subject_kind in ('payment', 'order', 'subscription', 'event', 'endpoint', 'effect', 'installation')),
  subject_key text not null constraint exceptions_subject_key check (subject_key <> ''),
  kind text not null,
  cause text not null constraint exceptions_cause check (cause <> ''),
  -- Who says so: exceptions of the rules close when the rules no longer say so, the others when their cause is mended.
  origin text not null constraint exceptions_origin check (origin in ('rules', 'receive', 'settle', 'effects', 'operator')),
  severity text not null constraint exceptions_severity check (severity in ('notice', 'warning', 'urgent')),
  state text not null constraint exceptions_state check (state in ('open', 'closed')),
  owner text not null default '',
  message text not null,
  primary key (id, bucket),
  constraint exceptions_raised_once unique (subject_key, subject_kind, kind, cause, tenant, bucket)
);
create index exceptions_open on exceptions (opened_at, bucket) where state = 'open';
