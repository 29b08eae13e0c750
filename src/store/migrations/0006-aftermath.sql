-- What went back of a payment, finer than its sums: null for nearly all of them, so that one more column costs next to
-- nothing. Read as a whole (rules/aftermath.ts); no query looks inside.
alter table payments add column aftermath jsonb;

-- One refund is one payment's. Told under two, neither is believed: all that tell of it stand here, and each of them is
-- in conflict until the others no longer do. `claims_rev` moves with every write, so that two payments that learn of one
-- refund at the same time cannot miss each other.
alter table refunds add column claimants bigint[] not null default '{}';
alter table refunds add column claims_rev bigint not null default 1;
update refunds set claimants = array[payment_id];
