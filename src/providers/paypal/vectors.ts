import type { Delivery, Provider } from '../contract.ts'
import type { LabelledSecret } from '../secret.ts'
import type { EventRow, Specimen } from '../specimen.ts'
import { type PaypalOptions, paypal } from './index.ts'
import { idFrom } from './made-up.ts'
import { samples, signPaypal, standInRoot } from './sample.ts'
import { STAND_IN_PATH, standInCertificates } from './stand-in-signer.ts'

const older: LabelledSecret = { label: 'older', secret: 'STANDIN0WEBHOOK0OLDER' }
const newer: LabelledSecret = { label: 'newer', secret: 'STANDIN0WEBHOOK0NEWER' }

const VECTOR_PATH = '/v1/notifications/certs/CERT-vector'
/** Self-made, with the name of the sandbox's signer; root of itself. */
const VECTOR_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIDjTCCAnWgAwIBAgIBATANBgkqhkiG9w0BAQsFADBWMR4wHAYDVQQKDBVTZWxm
LW1hZGUgdGVzdCB2ZWN0b3IxNDAyBgNVBAMMK21lc3NhZ2V2ZXJpZmljYXRpb25j
ZXJ0cy5zYW5kYm94LnBheXBhbC5jb20wIBcNMjAwMTAxMDAwMDAwWhgPMjA5OTEy
MzEyMzU5NTlaMFYxHjAcBgNVBAoMFVNlbGYtbWFkZSB0ZXN0IHZlY3RvcjE0MDIG
A1UEAwwrbWVzc2FnZXZlcmlmaWNhdGlvbmNlcnRzLnNhbmRib3gucGF5cGFsLmNv
bTCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBAMQcxsC9Kg3Qve8GYurg
2/4J8+HZkrtfuFg8npacDnglSKT1id/2tW5EuIRKxmyqxO75TaUZs0kbEvTbhguO
k2WcLAUW6zmS9cpVjfvo5BBPm7YHLiJtIXWnRm7yiUN4wqwWpKRdHnOhvoYqwujn
LnLWM07G06ahUlY4ECsdJmJ8j/kveqGqFn2Ra4II7192hTSvKi4lREsLAjc8vKor
uLCyZIxiOrclp2KFFR26WC/rHbyrVaexkX6sr55c0s1xP+4fhrEVC04lkOpgKZD+
fOGNkml+O4jkIq+FYv5T3OPW+VLHp4uGbUAYk2oJXGzrTTVMMRuhXgznaLEbtPk9
vfcCAwEAAaNkMGIwCQYDVR0TBAIwADA2BgNVHREELzAtgittZXNzYWdldmVyaWZp
Y2F0aW9uY2VydHMuc2FuZGJveC5wYXlwYWwuY29tMB0GA1UdDgQWBBSpHapN5/oE
32TmpnBiweZ3VkRvyjANBgkqhkiG9w0BAQsFAAOCAQEARMUklFEr1nmMnULkEzP7
U3wMF2J0pkx9YI1mAJprnnjzXAIdiekz6iJrEBa8N2omudyZ5fhSo75PDgCGnXSb
t0OFsifOkwURN3uW5EAYAimaWovw1wOF9SmXcmrE6WjFT/GVVTZI7Qn3AlG149Rs
0LAwFLStsnzVGCCHncb6ayGF4chlPtiGeOAmv24JibmRSzDx39YWmYCM7OQiAkLp
yVZCtHfpfob5fp3dXYCoXMq8jfWf+jpsK7H9y6JY57clJ9WnD0fzl7Ke44UgvZMt
5doH6Tfg+3NuK3ecyNpYfbnzRS8kQn/nmUV/6l4EiF3Fk3fVzFOq/MOAyQ2Jcb4a
ww==
-----END CERTIFICATE-----
`
const VECTOR_WEBHOOK: LabelledSecret = { label: 'vector', secret: '8PT597110X687430LKGECATA' }

/** Files as PayPal's certificate host would give them. */
export function certificateHost(files: Readonly<Record<string, string>>): typeof fetch {
  return async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input)
    const file = Object.hasOwn(files, pathname) ? files[pathname] : undefined
    return file === undefined ? new Response('', { status: 404 }) : new Response(file)
  }
}

/** An endpoint that trusts the stand-in's certificate. */
export function standIn(options: Partial<PaypalOptions> = {}): Provider {
  return paypal({
    webhookIds: [older],
    environment: 'sandbox',
    clientId: 'stand-in-client',
    clientSecret: 'stand-in-client-key',
    trustedRoots: [standInRoot],
    fetcher: certificateHost({ [STAND_IN_PATH]: standInCertificates }),
    ...options,
  })
}

/** An endpoint that accepts the vectors. */
export function vectorEndpoint(options: Partial<PaypalOptions> = {}): Provider {
  return standIn({
    webhookIds: [VECTOR_WEBHOOK],
    trustedRoots: [VECTOR_CERTIFICATE],
    fetcher: certificateHost({ [VECTOR_PATH]: VECTOR_CERTIFICATE }),
    ...options,
  })
}

const ofVectors = vectorEndpoint()

function vectorDelivery(body: string, id: string, time: string, signature: string): Delivery {
  return {
    method: 'POST',
    headers: {
      'paypal-transmission-id': id,
      'paypal-transmission-time': time,
      'paypal-transmission-sig': signature,
      'paypal-cert-url': `https://api.sandbox.paypal.com${VECTOR_PATH}`,
      'paypal-auth-algo': 'SHA256withRSA',
    },
    body: Buffer.from(body),
  }
}

const CAPTURE_BODY =
  '{"id":"WH-58D329510W468432D-8HN650336L201105X","event_version":"1.0","create_time":"2026-03-03T12:12:40.511Z","resource_type":"capture","resource_version":"2.0","event_type":"PAYMENT.CAPTURE.COMPLETED","summary":"Payment completed for EUR 25.0 EUR","resource":{"id":"3C679366HH908993F","amount":{"currency_code":"EUR","value":"25.00"},"final_capture":true,"seller_protection":{"status":"ELIGIBLE","dispute_categories":["ITEM_NOT_RECEIVED","UNAUTHORIZED_TRANSACTION"]},"seller_receivable_breakdown":{"gross_amount":{"currency_code":"EUR","value":"25.00"},"paypal_fee":{"currency_code":"EUR","value":"1.22"},"net_amount":{"currency_code":"EUR","value":"23.78"}},"invoice_id":"ORD-1001","custom_id":"user_8841.café","status":"COMPLETED","supplementary_data":{"related_ids":{"order_id":"5O190127TN364715T"}},"payee":{"email_address":"seller@example.com","merchant_id":"TESTSELLER001"},"create_time":"2026-03-03T12:12:36Z","update_time":"2026-03-03T12:12:36Z","links":[{"href":"https://api.sandbox.paypal.com/v2/payments/captures/3C679366HH908993F","rel":"self","method":"GET"},{"href":"https://api.sandbox.paypal.com/v2/payments/captures/3C679366HH908993F/refund","rel":"refund","method":"POST"},{"href":"https://api.sandbox.paypal.com/v2/checkout/orders/5O190127TN364715T","rel":"up","method":"GET"}]},"links":[{"href":"https://api.sandbox.paypal.com/v1/notifications/webhooks-events/WH-58D329510W468432D-8HN650336L201105X","rel":"self","method":"GET"},{"href":"https://api.sandbox.paypal.com/v1/notifications/webhooks-events/WH-58D329510W468432D-8HN650336L201105X/resend","rel":"resend","method":"POST"}]}'

const COLLISION = {
  id: 'b7d1c2a0-d67a-11f0-8d5e-0f1e2d3c4b5a',
  time: '2026-03-03T12:15:00Z',
  signature:
    'fJD2cvPo3RaKk59JKaxy+Aalc0KupaPbhMMeM/GaAUmyEoGohO84hyRkLR0FEcXI11JDLTLwTIRVowdz43pkFMJ/T+C7yTJJT5Pr/IuY8t1GtK/nIkDIIESzBOSWQggR8pvjQB9f+Ksge8IlvUUiSup3X0bu8o/uETvr5lIEbAzLLas4vepUFw97O9YDaPtl7UWm6DPMbKqJhlc9luNheZ5UWv/ERposGZc5THiXiotdKTt8fdmIrZURKj3yXMuhRZRw2XXksk5Yp5t8v5VHPJd6op3j/M/9uYmKHYiXkG+tOKma/bVASLsLwuwfffwPSrHqF86opVf5MS5qqLNvig==',
}

/** Two bodies of one CRC-32 under one signature: 10.00 as it was sent, and 99.00. */
export const collision = {
  provider: ofVectors,
  now_ms: Date.parse(COLLISION.time),
  genuine: collided(
    '{"id":"WH-COLLIDE-1","event_type":"PAYMENT.CAPTURE.COMPLETED","resource":{"id":"3C679366HH908993F","amount":{"currency_code":"EUR","value":"10.00"},"note":"000000000000000000000000000000000000000000000000"}}',
  ),
  forged: collided(
    '{"id":"WH-COLLIDE-1","event_type":"PAYMENT.CAPTURE.COMPLETED","resource":{"id":"3C679366HH908993F","amount":{"currency_code":"EUR","value":"99.00"},"note":"100011110100100100110011101010000000000000000000"}}',
  ),
}

function collided(body: string): Delivery {
  return vectorDelivery(body, COLLISION.id, COLLISION.time, COLLISION.signature)
}

const PAYMENT = idFrom('payment', 'vector')
const ORDER = idFrom('order', PAYMENT)
const AUTHORIZATION = idFrom('authorization', PAYMENT)
const REFUND = idFrom('refund', PAYMENT, 1999)
const SUBSCRIPTION = `I-${idFrom('subscription', PAYMENT).slice(0, 12)}`
const DISPUTE = `PP-D-${idFrom('dispute', PAYMENT).slice(0, 8)}`
const INVOICE = `INV2-${idFrom('invoice', PAYMENT)}`

/** What every event comes to: the object to ask about, and at most that there is such a payment. */
const ASKED: readonly (readonly [
  events: string,
  object: string,
  id: string,
  facts: readonly string[],
  payment: EventRow['payment'],
])[] = [
  ['CHECKOUT.ORDER.APPROVED', 'order', ORDER, [`${ORDER} / payment/pending`], 'linked'],
  [
    'CHECKOUT.ORDER.COMPLETED CHECKOUT.ORDER.SAVED CHECKOUT.ORDER.VOIDED CHECKOUT.ORDER.DECLINED CHECKOUT.PAYMENT-APPROVAL.REVERSED',
    'order',
    ORDER,
    [`${ORDER} / payment/created`],
    'linked',
  ],
  [
    'PAYMENT.AUTHORIZATION.CREATED PAYMENT.AUTHORIZATION.VOIDED',
    'authorization',
    AUTHORIZATION,
    [`${AUTHORIZATION} / payment/created`],
    'linked',
  ],
  ['PAYMENT.CAPTURE.PENDING', 'capture', PAYMENT, [`${PAYMENT} / payment/pending`], 'named'],
  [
    'PAYMENT.CAPTURE.COMPLETED PAYMENT.CAPTURE.DENIED PAYMENT.CAPTURE.DECLINED',
    'capture',
    PAYMENT,
    [`${PAYMENT} / payment/created`],
    'named',
  ],
  [
    'PAYMENT.CAPTURE.REFUNDED PAYMENT.REFUND.PENDING PAYMENT.REFUND.FAILED',
    'refund',
    REFUND,
    [`${PAYMENT} / payment/created`],
    'named',
  ],
  ['PAYMENT.CAPTURE.REVERSED', 'reversal', REFUND, [`${PAYMENT} / payment/created`], 'named'],
  [
    'PAYMENT.SALE.COMPLETED PAYMENT.SALE.PENDING PAYMENT.SALE.DENIED',
    'sale',
    PAYMENT,
    [`${PAYMENT} / payment/created`],
    'named',
  ],
  ['PAYMENT.SALE.REFUNDED', 'sale_refund', REFUND, [`${PAYMENT} / payment/created`], 'named'],
  ['PAYMENT.SALE.REVERSED', 'sale_reversal', REFUND, [`${PAYMENT} / payment/created`], 'named'],
  [
    'BILLING.SUBSCRIPTION.CREATED BILLING.SUBSCRIPTION.ACTIVATED BILLING.SUBSCRIPTION.UPDATED BILLING.SUBSCRIPTION.RE-ACTIVATED BILLING.SUBSCRIPTION.PAYMENT.FAILED BILLING.SUBSCRIPTION.SUSPENDED BILLING.SUBSCRIPTION.CANCELLED BILLING.SUBSCRIPTION.EXPIRED',
    'subscription',
    SUBSCRIPTION,
    [],
    'none',
  ],
  [
    'CUSTOMER.DISPUTE.CREATED CUSTOMER.DISPUTE.UPDATED CUSTOMER.DISPUTE.RESOLVED',
    'dispute',
    DISPUTE,
    [`${PAYMENT} / payment/created`],
    'named',
  ],
  ['INVOICING.INVOICE.PAID', 'invoice', INVOICE, [], 'parked'],
]

const events: readonly EventRow[] = [
  ...ASKED.flatMap(([names, object, id, facts, payment]) =>
    names.split(' ').map(
      (event): EventRow => ({
        event,
        body: bodyOf(event),
        outcome: 'facts',
        facts,
        lookups: [{ object, id }],
        payment,
      }),
    ),
  ),
  ...(['CAPTURE', 'SALE'] as const).map((family): EventRow => {
    const resource = { id: PAYMENT, status: 'NEW' }
    return {
      event: `an unknown one about a ${family.toLowerCase()}`,
      body: Buffer.from(JSON.stringify({ id: 'WH-1', event_type: `PAYMENT.${family}.NEW`, resource })),
      outcome: 'facts',
      facts: [`${PAYMENT} / payment/created`],
      lookups: [{ object: family.toLowerCase(), id: PAYMENT }],
      payment: 'named',
    }
  }),
  {
    event: 'unknown type',
    body: Buffer.from('{"id":"WH-1","event_type":"VAULT.PAYMENT-TOKEN.CREATED","resource":{"id":"1"}}'),
    outcome: 'ignored',
    facts: [],
    payment: 'none',
  },
]

function bodyOf(event: string): Uint8Array {
  const wish = { event, order: 'A-1001', amount_minor: 1999n, currency: 'EUR', payment: PAYMENT }
  return Buffer.from(samples.make({ ...wish, live: false, at_s: 1_760_000_000 }, older.secret, 0).body)
}

export const specimen: Specimen = {
  provider: standIn({ webhookIds: [older, newer] }),
  providerOfSecond: standIn({ webhookIds: [newer] }),
  secrets: [older, newer],
  sign: (body, webhook, now_ms) => ({ method: 'POST', headers: signPaypal(body, webhook, now_ms), body }),
  headers: [
    'paypal-transmission-sig',
    'paypal-transmission-id',
    'paypal-transmission-time',
    'paypal-cert-url',
    'paypal-auth-algo',
  ],
  tolerance_s: 345_600,
  events,
  vectors: [
    {
      name: 'a capture, beyond ASCII',
      provider: ofVectors,
      secret_label: 'vector',
      now_ms: Date.parse('2026-03-03T12:12:41Z'),
      delivery: vectorDelivery(
        CAPTURE_BODY,
        '69cd13f0-d67a-11f0-9b1c-93b6c0a1d2e3',
        '2026-03-03T12:12:41Z',
        'cKZy38S51CJIot+76qF3J/prWGSBPJVj5DSRoGY06RWCPRwqeQeA2u0x2Rh5z0YpzN4A0/o1Vy7qpv89JkLD0v87TIanCJtd6ojrTkUflgNJg2xE9uoqjnnbAXG/VdxBOkeMFdV1+ghPKl+ydR8dT01jwRJhfaN4CKeIwzMMbnbllUAA6AzFVztvVYF0R+AXItsKOSPgkbHVskFw4lpLq7fy+q/LThmdHrGHiW+vRRwvoN58Y/6goukSwIlzQa/prSqlI009L2pPKifdHxjsa9RWf0xxrMK0XCXVaDByLBvMBj2gmN2FpRA9jgJ8o6YghMwLcqL6reRo7LqLf7PTvQ==',
      ),
    },
    {
      name: 'the genuine one of two bodies with one CRC-32',
      provider: ofVectors,
      secret_label: 'vector',
      now_ms: collision.now_ms,
      delivery: collision.genuine,
    },
  ],
}
