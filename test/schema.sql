create sequence event_ids as bigint;

create sequence fact_ids as bigint;

create sequence subject_ids as bigint;

create table disputes (
  id bigint not null generated always as identity,
  payment_id bigint not null,
  respond_by timestamp with time zone,
  updated_at timestamp with time zone not null,
  bucket smallint not null,
  tenant text not null,
  namespace text not null,
  account text not null,
  provider_dispute_id text not null,
  stage text not null,
  status text not null,
  amount_minor numeric(78,0),
  currency text,
  withdrawn_minor numeric(78,0) not null default 0,
  reinstated_minor numeric(78,0) not null default 0,
  constraint disputes_pkey PRIMARY KEY (id, bucket),
  constraint disputes_recorded_once UNIQUE (provider_dispute_id, stage, namespace, account, tenant, bucket),
  constraint disputes_provider_dispute_id CHECK ((provider_dispute_id <> ''::text))
);
CREATE INDEX disputes_of_payment ON disputes USING btree (payment_id, bucket);
CREATE INDEX disputes_to_answer ON disputes USING btree (respond_by, bucket) WHERE ((status = 'needs_response'::text) AND (respond_by IS NOT NULL));

create table effects (
  id bigint not null generated always as identity,
  subject_id bigint not null,
  seq bigint not null,
  revision bigint not null,
  available_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  attempts integer not null default 0,
  bucket smallint not null,
  lease_token uuid,
  tenant text not null,
  subject_kind text not null,
  subject_key text not null,
  topic text not null,
  item text not null,
  cause text not null,
  lane text not null,
  state text not null,
  last_error text not null default ''::text,
  payload jsonb not null,
  constraint effects_pkey PRIMARY KEY (id, bucket),
  constraint effects_announced_once UNIQUE (subject_id, topic, item, cause, bucket),
  constraint effects_cause CHECK ((cause <> ''::text)),
  constraint effects_item CHECK ((item <> ''::text)),
  constraint effects_state CHECK ((state = ANY (ARRAY['due'::text, 'done'::text, 'dead'::text, 'withdrawn'::text, 'superseded'::text, 'discarded'::text]))),
  constraint effects_topic CHECK ((topic <> ''::text))
) with (fillfactor=80);
CREATE INDEX effects_alerts ON effects USING btree (finished_at, id, bucket) WHERE (topic = 'exception.opened'::text);
CREATE INDEX effects_due ON effects USING btree (available_at, bucket) WHERE (state = 'due'::text);

create table endpoint_refusals (
  first_refused_at timestamp with time zone not null,
  last_refused_at timestamp with time zone not null,
  refusals bigint not null,
  bucket smallint not null,
  tenant text not null,
  endpoint text not null,
  constraint endpoint_refusals_pkey PRIMARY KEY (endpoint, tenant, bucket),
  constraint endpoint_refusals_endpoint CHECK ((endpoint <> ''::text)),
  constraint endpoint_refusals_tenant CHECK ((tenant <> ''::text))
);

create table endpoint_secrets (
  first_used_at timestamp with time zone not null,
  last_used_at timestamp with time zone not null,
  bucket smallint not null,
  tenant text not null,
  endpoint text not null,
  secret_label text not null,
  constraint endpoint_secrets_pkey PRIMARY KEY (endpoint, secret_label, tenant, bucket)
);

create table entitlements (
  order_id bigint not null,
  revision bigint not null,
  updated_at timestamp with time zone not null,
  quantity integer not null,
  bucket smallint not null,
  state text not null,
  item text not null,
  constraint entitlements_pkey PRIMARY KEY (order_id, item, bucket),
  constraint entitlements_item CHECK ((item <> ''::text)),
  constraint entitlements_state CHECK ((state = ANY (ARRAY['none'::text, 'granted'::text, 'suspended'::text, 'revoked'::text, 'expired'::text])))
) with (fillfactor=80);

create table event_copies (
  event_id bigint not null,
  received_at timestamp with time zone not null,
  copies integer not null,
  bucket smallint not null,
  constraint event_copies_pkey PRIMARY KEY (event_id, received_at, bucket)
);

create table event_versions (
  event_id bigint not null,
  received_at timestamp with time zone not null,
  version integer not null,
  adapter_version integer not null,
  bucket smallint not null,
  digest bytea not null,
  body bytea,
  constraint event_versions_pkey PRIMARY KEY (event_id, version, bucket),
  constraint event_versions_content_once UNIQUE (event_id, digest, bucket),
  constraint event_versions_version CHECK ((version > 1))
);

create table events (
  id bigint not null default nextval('event_ids'::regclass),
  received_at timestamp with time zone not null,
  occurred_at timestamp with time zone,
  adapter_version integer not null,
  bucket smallint not null,
  tenant text not null,
  provider text not null,
  account text not null,
  mode text not null,
  event_key text not null,
  key_kind text not null,
  endpoint text not null,
  type text not null,
  state text not null,
  reason text not null,
  secret_label text not null,
  api_version text,
  digest bytea not null,
  headers jsonb,
  body bytea,
  constraint events_pkey PRIMARY KEY (id, bucket),
  constraint events_seen_once UNIQUE (event_key, provider, account, mode, tenant, bucket),
  constraint events_account CHECK ((account <> ''::text)),
  constraint events_event_key CHECK ((event_key <> ''::text)),
  constraint events_key_kind CHECK ((key_kind = ANY (ARRAY['id'::text, 'digest'::text]))),
  constraint events_mode CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint events_provider CHECK ((provider <> ''::text)),
  constraint events_state CHECK ((state = ANY (ARRAY['settled'::text, 'kept'::text, 'ignored'::text, 'misdirected'::text, 'unreadable'::text]))),
  constraint events_tenant CHECK ((tenant <> ''::text))
);

create table exception_notes (
  id bigint not null generated always as identity,
  exception_id bigint not null,
  noted_at timestamp with time zone not null,
  occurrence integer not null,
  bucket smallint not null,
  kind text not null,
  actor text not null default ''::text,
  words text not null default ''::text,
  constraint exception_notes_pkey PRIMARY KEY (id, bucket),
  constraint exception_notes_kind CHECK ((kind = ANY (ARRAY['opened'::text, 'reopened'::text, 'escalated'::text, 'acknowledged'::text, 'assigned'::text, 'note'::text, 'closed'::text, 'resolved'::text])))
);
CREATE INDEX exception_notes_of_exception ON exception_notes USING btree (exception_id, bucket);

create table exceptions (
  id bigint not null generated always as identity,
  subject_id bigint not null default 0,
  opened_at timestamp with time zone not null,
  alert_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  occurrence integer not null default 1,
  bucket smallint not null,
  tenant text not null,
  subject_kind text not null,
  subject_key text not null,
  kind text not null,
  cause text not null,
  origin text not null,
  severity text not null,
  state text not null,
  owner text not null default ''::text,
  message text not null,
  acknowledged_at timestamp with time zone,
  acknowledged_by text not null default ''::text,
  closed_by text not null default ''::text,
  constraint exceptions_pkey PRIMARY KEY (id, bucket),
  constraint exceptions_raised_once UNIQUE (subject_key, subject_kind, kind, cause, tenant, bucket),
  constraint exceptions_cause CHECK ((cause <> ''::text)),
  constraint exceptions_origin CHECK ((origin = ANY (ARRAY['rules'::text, 'receive'::text, 'settle'::text, 'effects'::text, 'operator'::text, 'watch'::text, 'operations'::text, 'reconcile'::text]))),
  constraint exceptions_severity CHECK ((severity = ANY (ARRAY['notice'::text, 'warning'::text, 'urgent'::text]))),
  constraint exceptions_state CHECK ((state = ANY (ARRAY['open'::text, 'closed'::text]))),
  constraint exceptions_subject_key CHECK ((subject_key <> ''::text)),
  constraint exceptions_subject_kind CHECK ((subject_kind = ANY (ARRAY['payment'::text, 'order'::text, 'subscription'::text, 'event'::text, 'endpoint'::text, 'effect'::text, 'installation'::text, 'operation'::text])))
);
CREATE INDEX exceptions_open ON exceptions USING btree (opened_at, bucket) WHERE (state = 'open'::text);

create table facts (
  id bigint not null default nextval('fact_ids'::regclass),
  subject_id bigint not null,
  recorded_at timestamp with time zone not null,
  bucket smallint not null,
  subject_kind text not null,
  kind text not null,
  fact_key text not null,
  content_digest bytea not null,
  content jsonb not null,
  constraint facts_pkey PRIMARY KEY (id, bucket),
  constraint facts_stated_once UNIQUE (subject_id, fact_key, content_digest, bucket),
  constraint facts_fact_key CHECK ((fact_key <> ''::text)),
  constraint facts_subject_kind CHECK ((subject_kind = ANY (ARRAY['payment'::text, 'order'::text, 'subscription'::text])))
);

create table installation (
  only_row smallint not null default 1,
  mode text not null,
  buckets smallint not null,
  epoch bigint not null,
  created_at timestamp with time zone not null,
  constraint installation_pkey PRIMARY KEY (only_row),
  constraint installation_buckets CHECK (((buckets >= 1) AND (buckets <= 1024))),
  constraint installation_has_one_row CHECK ((only_row = 1)),
  constraint installation_mode CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text])))
);

create table lookup_answers (
  lookup_id bigint not null,
  asked_at timestamp with time zone not null,
  answered_at timestamp with time zone not null,
  number integer not null,
  facts integer not null,
  bucket smallint not null,
  outcome text not null,
  reason text not null default ''::text,
  constraint lookup_answers_pkey PRIMARY KEY (lookup_id, number, bucket),
  constraint lookup_answers_outcome CHECK ((outcome = ANY (ARRAY['found'::text, 'not_found'::text, 'unavailable'::text, 'refused'::text, 'unreadable'::text])))
);

create table lookups (
  id bigint not null generated always as identity,
  due_at timestamp with time zone,
  asked_for_at timestamp with time zone not null,
  wanted bigint not null default 1,
  answers integer not null default 0,
  attempts integer not null default 0,
  bucket smallint not null,
  tenant text not null,
  namespace text not null,
  account text not null,
  object text not null,
  object_id text not null,
  endpoint text not null,
  asked_by text not null,
  last_outcome text not null default ''::text,
  last_reason text not null default ''::text,
  constraint lookups_pkey PRIMARY KEY (id, bucket),
  constraint lookups_asked_once UNIQUE (object_id, object, namespace, account, tenant, bucket),
  constraint lookups_account CHECK ((account <> ''::text)),
  constraint lookups_asked_by CHECK ((asked_by = ANY (ARRAY['event'::text, 'start'::text, 'return'::text, 'person'::text, 'sweep'::text]))),
  constraint lookups_namespace CHECK ((namespace <> ''::text)),
  constraint lookups_object CHECK ((object <> ''::text)),
  constraint lookups_object_id CHECK ((object_id <> ''::text)),
  constraint lookups_tenant CHECK ((tenant <> ''::text))
) with (fillfactor=70);
CREATE INDEX lookups_due ON lookups USING btree (due_at, bucket) WHERE (due_at IS NOT NULL);

create table operation_notes (
  id bigint not null generated always as identity,
  operation_id bigint not null,
  noted_at timestamp with time zone not null,
  bucket smallint not null,
  said text not null,
  actor text not null,
  words text not null,
  constraint operation_notes_pkey PRIMARY KEY (id, bucket),
  constraint operation_notes_actor CHECK ((actor <> ''::text)),
  constraint operation_notes_said CHECK ((said = ANY (ARRAY['succeeded'::text, 'failed'::text, 'retry'::text, 'confirmed'::text, 'abandoned'::text]))),
  constraint operation_notes_words CHECK ((words <> ''::text))
);
CREATE INDEX operation_notes_of_operation ON operation_notes USING btree (operation_id, bucket);

create table operation_requests (
  operation_id bigint not null,
  sent_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  number integer not null,
  attempt integer not null,
  bucket smallint not null,
  whole boolean not null default false,
  provider_key text not null,
  outcome text not null default ''::text,
  reason text not null default ''::text,
  constraint operation_requests_pkey PRIMARY KEY (operation_id, number, bucket),
  constraint operation_requests_outcome CHECK ((outcome = ANY (ARRAY[''::text, 'accepted'::text, 'declined'::text, 'unknown'::text, 'not_sent'::text]))),
  constraint operation_requests_provider_key CHECK ((provider_key <> ''::text))
);
CREATE INDEX operation_requests_of_key ON operation_requests USING btree (provider_key, bucket);

create table operations (
  id bigint not null generated always as identity,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  due_at timestamp with time zone,
  unknown_since timestamp with time zone,
  attempt integer not null default 1,
  tries integer not null default 0,
  bucket smallint not null,
  confirmed boolean not null default false,
  lease_token uuid,
  params_digest bytea not null,
  tenant text not null,
  operation_key text not null,
  kind text not null,
  state text not null,
  endpoint text not null,
  namespace text not null,
  account text not null,
  provider_payment_id text not null default ''::text,
  order_ref text not null default ''::text,
  currency text not null,
  amount_minor numeric(78,0) not null,
  provider_id text not null default ''::text,
  code text not null default ''::text,
  reason text not null default ''::text,
  params jsonb not null,
  constraint operations_pkey PRIMARY KEY (id, bucket),
  constraint operations_asked_once UNIQUE (operation_key, tenant, bucket),
  constraint operations_account CHECK ((account <> ''::text)),
  constraint operations_amount_minor CHECK ((amount_minor > (0)::numeric)),
  constraint operations_attempt CHECK ((attempt > 0)),
  constraint operations_currency CHECK ((currency <> ''::text)),
  constraint operations_endpoint CHECK ((endpoint <> ''::text)),
  constraint operations_kind CHECK ((kind = ANY (ARRAY['refund'::text, 'charge'::text]))),
  constraint operations_name_one CHECK (
CASE kind
    WHEN 'refund'::text THEN ((provider_payment_id <> ''::text) AND (order_ref = ''::text))
    ELSE (order_ref <> ''::text)
END),
  constraint operations_namespace CHECK ((namespace <> ''::text)),
  constraint operations_operation_key CHECK ((operation_key <> ''::text)),
  constraint operations_state CHECK ((state = ANY (ARRAY['planned'::text, 'in_flight'::text, 'succeeded'::text, 'failed_definitive'::text, 'unknown'::text, 'abandoned'::text, 'superseded'::text]))),
  constraint operations_tenant CHECK ((tenant <> ''::text))
) with (fillfactor=70);
CREATE INDEX operations_due ON operations USING btree (due_at, bucket) WHERE (due_at IS NOT NULL);
CREATE INDEX operations_of_order ON operations USING btree (order_ref, bucket) WHERE (order_ref <> ''::text);
CREATE INDEX operations_of_payment ON operations USING btree (provider_payment_id, namespace, account, bucket) WHERE (provider_payment_id <> ''::text);
CREATE UNIQUE INDEX operations_one_charge ON operations USING btree (order_ref, tenant, bucket) WHERE ((kind = 'charge'::text) AND (state = ANY (ARRAY['planned'::text, 'in_flight'::text, 'unknown'::text])));

create table orders (
  id bigint not null default nextval('subject_ids'::regclass),
  facts_rev bigint not null,
  effect_seq bigint not null default 0,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  next_wakeup_at timestamp with time zone,
  open_exceptions integer not null default 0,
  bucket smallint not null,
  has_entitlements boolean not null default false,
  tenant text not null,
  reference text not null,
  status text not null,
  currency text,
  amount_minor numeric(78,0),
  paid_minor numeric(78,0) not null default 0,
  net_minor numeric(78,0) not null default 0,
  surplus_minor numeric(78,0) not null default 0,
  payment_ids bigint[] not null default '{}'::bigint[],
  book jsonb,
  subscription_ids bigint[] not null default '{}'::bigint[],
  holder text,
  constraint orders_pkey PRIMARY KEY (id, bucket),
  constraint orders_known_once UNIQUE (reference, tenant, bucket),
  constraint orders_reference CHECK ((reference <> ''::text)),
  constraint orders_tenant CHECK ((tenant <> ''::text))
) with (fillfactor=70);
CREATE INDEX orders_of_holder ON orders USING btree (holder, bucket) WHERE (holder IS NOT NULL);
CREATE INDEX orders_to_wake ON orders USING btree (next_wakeup_at, bucket) WHERE (next_wakeup_at IS NOT NULL);

create table paidonce_migrations (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null,
  constraint paidonce_migrations_pkey PRIMARY KEY (number)
);

create table payments (
  id bigint not null default nextval('subject_ids'::regclass),
  facts_rev bigint not null,
  linked_to bigint,
  moved_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  open_exceptions integer not null default 0,
  bucket smallint not null,
  has_stand_ins boolean not null default false,
  has_returns boolean not null default false,
  tenant text not null,
  namespace text not null,
  account text not null,
  provider_payment_id text not null,
  status text not null,
  currency text,
  authorized_minor numeric(78,0) not null default 0,
  captured_minor numeric(78,0) not null default 0,
  refunded_minor numeric(78,0) not null default 0,
  refund_pending_minor numeric(78,0) not null default 0,
  disputed_minor numeric(78,0) not null default 0,
  lost_minor numeric(78,0) not null default 0,
  reversed_minor numeric(78,0) not null default 0,
  order_refs text[] not null default '{}'::text[],
  subscription_refs text[] not null default '{}'::text[],
  aftermath jsonb,
  constraint payments_pkey PRIMARY KEY (id, bucket),
  constraint payments_recorded_once UNIQUE (provider_payment_id, namespace, account, tenant, bucket),
  constraint payments_account CHECK ((account <> ''::text)),
  constraint payments_namespace CHECK ((namespace <> ''::text)),
  constraint payments_provider_payment_id CHECK ((provider_payment_id <> ''::text)),
  constraint payments_tenant CHECK ((tenant <> ''::text))
) with (fillfactor=80);
CREATE INDEX payments_stand_ins ON payments USING btree (linked_to, bucket) WHERE (linked_to IS NOT NULL);

create table reconciliation_breaks (
  id bigint not null generated always as identity,
  reconciliation_id bigint not null,
  first_found_at timestamp with time zone not null,
  found_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  closed_at timestamp with time zone,
  occurrence integer not null default 1,
  bucket smallint not null,
  tenant text not null,
  namespace text not null,
  account text not null,
  endpoint text not null,
  kind text not null,
  item_id text not null,
  payment text not null default ''::text,
  class text not null,
  state text not null,
  our_status text not null default ''::text,
  their_status text not null default ''::text,
  our_minor numeric(78,0),
  their_minor numeric(78,0),
  our_currency text not null default ''::text,
  their_currency text not null default ''::text,
  place text not null default ''::text,
  actor text not null default ''::text,
  reason text not null default ''::text,
  constraint reconciliation_breaks_pkey PRIMARY KEY (id, bucket),
  constraint reconciliation_breaks_found_once UNIQUE (item_id, kind, namespace, account, tenant, bucket),
  constraint reconciliation_breaks_account CHECK ((account <> ''::text)),
  constraint reconciliation_breaks_class CHECK ((class = ANY (ARRAY['missing_internal'::text, 'missing_external'::text, 'amount_mismatch'::text, 'currency_mismatch'::text, 'status_mismatch'::text, 'timing_difference'::text, 'duplicate_external'::text, 'duplicate_internal'::text, 'unexplained_refund'::text, 'fee_or_fx_difference'::text, 'unverifiable'::text]))),
  constraint reconciliation_breaks_item_id CHECK ((item_id <> ''::text)),
  constraint reconciliation_breaks_kind CHECK ((kind = ANY (ARRAY['payments'::text, 'refunds'::text, 'disputes'::text]))),
  constraint reconciliation_breaks_namespace CHECK ((namespace <> ''::text)),
  constraint reconciliation_breaks_state CHECK ((state = ANY (ARRAY['open'::text, 'explained'::text, 'resolved'::text, 'written_off'::text]))),
  constraint reconciliation_breaks_tenant CHECK ((tenant <> ''::text))
) with (fillfactor=80);
CREATE INDEX reconciliation_breaks_open ON reconciliation_breaks USING btree (found_at, bucket) WHERE (state = 'open'::text);

create table reconciliation_coverage (
  reconciliation_id bigint not null,
  from_at timestamp with time zone not null,
  to_at timestamp with time zone not null,
  listed_at timestamp with time zone not null,
  lag_ms bigint not null,
  listed bigint not null,
  bucket smallint not null,
  tenant text not null,
  namespace text not null,
  account text not null,
  kind text not null,
  criterion text not null,
  constraint reconciliation_coverage_pkey PRIMARY KEY (reconciliation_id, kind, bucket),
  constraint reconciliation_coverage_criterion CHECK ((criterion = ANY (ARRAY['created'::text, 'moved'::text, 'unknown'::text]))),
  constraint reconciliation_coverage_kind CHECK ((kind = ANY (ARRAY['payments'::text, 'refunds'::text, 'disputes'::text])))
);
CREATE INDEX reconciliation_coverage_newest ON reconciliation_coverage USING btree (namespace, account, kind, to_at DESC, bucket);

create table reconciliation_items (
  reconciliation_id bigint not null,
  bucket smallint not null,
  kind text not null,
  item_id text not null,
  class text not null,
  digest bytea not null,
  constraint reconciliation_items_pkey PRIMARY KEY (reconciliation_id, item_id, kind, bucket),
  constraint reconciliation_items_item_id CHECK ((item_id <> ''::text))
);

create table reconciliations (
  id bigint not null generated always as identity,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  from_at timestamp with time zone,
  to_at timestamp with time zone,
  scheduled_for timestamp with time zone,
  lease_until timestamp with time zone not null,
  retry_at timestamp with time zone,
  attempt integer not null default 1,
  bucket smallint not null,
  tenant text not null,
  namespace text not null,
  account text not null,
  endpoint text not null,
  source text not null,
  source_digest text not null default ''::text,
  state text not null,
  reason text not null default ''::text,
  counts jsonb not null default '{}'::jsonb,
  constraint reconciliations_pkey PRIMARY KEY (id, bucket),
  constraint reconciliations_account CHECK ((account <> ''::text)),
  constraint reconciliations_endpoint CHECK ((endpoint <> ''::text)),
  constraint reconciliations_namespace CHECK ((namespace <> ''::text)),
  constraint reconciliations_source CHECK ((source = ANY (ARRAY['list'::text, 'file'::text]))),
  constraint reconciliations_state CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'failed'::text]))),
  constraint reconciliations_tenant CHECK ((tenant <> ''::text))
);
CREATE UNIQUE INDEX reconciliations_one_at_a_time ON reconciliations USING btree (namespace, account, tenant, bucket) WHERE (state = 'running'::text);
CREATE UNIQUE INDEX reconciliations_scheduled_once ON reconciliations USING btree (scheduled_for, namespace, account, tenant, bucket) WHERE (scheduled_for IS NOT NULL);

create table refunds (
  id bigint not null generated always as identity,
  payment_id bigint not null,
  moved_at timestamp with time zone,
  updated_at timestamp with time zone not null,
  bucket smallint not null,
  tenant text not null,
  namespace text not null,
  account text not null,
  provider_refund_id text not null,
  status text not null,
  amount_minor numeric(78,0),
  currency text,
  origin text,
  claimants bigint[] not null default '{}'::bigint[],
  claims_rev bigint not null default 1,
  constraint refunds_pkey PRIMARY KEY (id, bucket),
  constraint refunds_recorded_once UNIQUE (provider_refund_id, namespace, account, tenant, bucket),
  constraint refunds_provider_refund_id CHECK ((provider_refund_id <> ''::text))
);
CREATE INDEX refunds_of_payment ON refunds USING btree (payment_id, bucket);

create table rights (
  id bigint not null default nextval('subject_ids'::regclass),
  facts_rev bigint not null,
  effect_seq bigint not null default 0,
  revision bigint not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  quantity bigint not null,
  bucket smallint not null,
  tenant text not null,
  holder text not null,
  item text not null,
  state text not null,
  constraint rights_pkey PRIMARY KEY (id, bucket),
  constraint rights_known_once UNIQUE (holder, item, tenant, bucket),
  constraint rights_holder CHECK ((holder <> ''::text)),
  constraint rights_item CHECK ((item <> ''::text)),
  constraint rights_state CHECK ((state = ANY (ARRAY['none'::text, 'granted'::text, 'suspended'::text, 'revoked'::text, 'expired'::text]))),
  constraint rights_tenant CHECK ((tenant <> ''::text))
) with (fillfactor=80);

create table subscriptions (
  id bigint not null default nextval('subject_ids'::regclass),
  facts_rev bigint not null,
  period_end timestamp with time zone,
  cancel_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  open_exceptions integer not null default 0,
  bucket smallint not null,
  tenant text not null,
  namespace text not null,
  account text not null,
  provider_subscription_id text not null,
  status text not null,
  payment_ids bigint[] not null default '{}'::bigint[],
  order_refs text[] not null default '{}'::text[],
  since timestamp with time zone,
  ended_from text,
  price text,
  constraint subscriptions_pkey PRIMARY KEY (id, bucket),
  constraint subscriptions_known_once UNIQUE (provider_subscription_id, namespace, account, tenant, bucket),
  constraint subscriptions_provider_subscription_id CHECK ((provider_subscription_id <> ''::text))
);

create table sweep_rounds (
  due_at timestamp with time zone not null,
  "position" bigint not null default 0,
  bucket smallint not null,
  sweep text not null,
  constraint sweep_rounds_pkey PRIMARY KEY (sweep, bucket),
  constraint sweep_rounds_sweep CHECK ((sweep <> ''::text))
);

create table unconfirmed (
  id bigint not null generated always as identity,
  received_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  attempts integer not null default 0,
  bucket smallint not null,
  tenant text not null,
  endpoint text not null,
  digest bytea not null,
  headers jsonb not null,
  body bytea not null,
  constraint unconfirmed_pkey PRIMARY KEY (id, bucket),
  constraint unconfirmed_once UNIQUE (digest, endpoint, tenant, bucket),
  constraint unconfirmed_endpoint CHECK ((endpoint <> ''::text)),
  constraint unconfirmed_tenant CHECK ((tenant <> ''::text))
);
CREATE INDEX unconfirmed_due ON unconfirmed USING btree (due_at, bucket);
CREATE INDEX unconfirmed_of_endpoint ON unconfirmed USING btree (endpoint, bucket);

create table unsettled (
  id bigint not null generated always as identity,
  event_id bigint not null default 0,
  marked_at timestamp with time zone not null,
  next_attempt_at timestamp with time zone not null,
  attempts integer not null default 0,
  times integer not null default 1,
  bucket smallint not null,
  tenant text not null,
  order_ref text not null default ''::text,
  reason text not null,
  last_error text not null default ''::text,
  constraint unsettled_pkey PRIMARY KEY (id, bucket),
  constraint unsettled_once UNIQUE (event_id, order_ref, tenant, bucket),
  constraint unsettled_names_one CHECK (((event_id = 0) <> (order_ref = ''::text)))
);
CREATE INDEX unsettled_due ON unsettled USING btree (next_attempt_at, bucket);

create table watch_rounds (
  due_at timestamp with time zone not null,
  bucket smallint not null,
  watch text not null,
  constraint watch_rounds_pkey PRIMARY KEY (watch, bucket),
  constraint watch_rounds_watch CHECK ((watch <> ''::text))
);

create table witnesses (
  fact_id bigint not null,
  source_id bigint not null,
  source_version integer not null,
  bucket smallint not null,
  source_kind text not null,
  constraint witnesses_pkey PRIMARY KEY (fact_id, source_kind, source_id, source_version, bucket),
  constraint witnesses_source_kind CHECK ((source_kind = ANY (ARRAY['event'::text, 'merchant'::text, 'lookup'::text, 'operation'::text, 'decision'::text, 'timer'::text, 'reconciliation'::text])))
);
CREATE INDEX witnesses_of_source ON witnesses USING btree (source_id, bucket);
