-- Which secret of an endpoint was used, first and last: how a rotation that nobody finished is noticed, and when the
-- last authentic delivery came. Written once a minute from memory, never on the path of a delivery.
create table endpoint_secrets (
  first_used_at timestamptz not null,
  last_used_at timestamptz not null,
  bucket smallint not null,
  tenant text not null,
  endpoint text not null,
  secret_label text not null,
  primary key (endpoint, secret_label, tenant, bucket)
);
