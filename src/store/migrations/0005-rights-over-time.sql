-- Subscriptions settle orders, and several orders may give one right.
alter table orders add column subscription_ids bigint[] not null default '{}';
-- The merchant's own id of who gets what the order gives; null where the terms name nobody.
alter table orders add column holder text;
create index orders_of_holder on orders (holder, bucket) where holder is not null;

-- Every subscription that the payment's facts name.
alter table payments add column subscription_refs text[] not null default '{}';

-- The payments that name the subscription, and the orders that it settles: those that its own newest facts name, or else
-- those that its payments name.
alter table subscriptions add column payment_ids bigint[] not null default '{}';
alter table subscriptions add column order_refs text[] not null default '{}';
-- Since when it has had its status, by the provider's clock, and from which status it ended.
alter table subscriptions add column since timestamptz;
alter table subscriptions add column ended_from text;

-- What does this holder have of this item? The fold of all their orders.
create table rights (
  id bigint not null default nextval('subject_ids'),
  facts_rev bigint not null,
  effect_seq bigint not null default 0,
  revision bigint not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  quantity bigint not null,
  bucket smallint not null,
  tenant text not null constraint rights_tenant check (tenant <> ''),
  holder text not null constraint rights_holder check (holder <> ''),
  item text not null constraint rights_item check (item <> ''),
  state text not null constraint rights_state check (state in ('none', 'granted', 'suspended', 'revoked', 'expired')),
  primary key (id, bucket),
  constraint rights_known_once unique (holder, item, tenant, bucket)
) with (fillfactor = 80);
