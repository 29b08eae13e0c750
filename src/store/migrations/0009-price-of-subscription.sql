-- The provider's price that the subscription names now; null where none is told.
alter table subscriptions add column price text;
