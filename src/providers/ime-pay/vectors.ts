import type { EventRow, Specimen } from '../specimen.ts'
import { imePay } from './index.ts'
import { imePayReturn } from './sample.ts'

const PAYMENT = 'ORD-1001-A1~202603031012345678'

/** What a browser says with each response code: which payment to ask about, and nothing else. */
function row(event: string, body: string): EventRow {
  return {
    event,
    body: Buffer.from(body),
    facts: [],
    outcome: 'facts',
    lookups: [{ object: 'payment', id: PAYMENT }],
    payment: 'named',
  }
}

const coded = (code: string) => imePayReturn({ payment: PAYMENT, amount_minor: 270_000n, code })
const posted = (code: string) =>
  `ResponseCode=${code}&ResponseDescription=&Msisdn=&TransactionId=0&RefId=ORD-1001-A1&TranAmount=2700.0000&TokenId=202603031012345678`

export const specimen: Specimen = {
  provider: imePay({
    merchantCode: 'TESTMERCH',
    apiUser: 'apiuser',
    password: 'apipass',
    module: 'MODULE',
    mode: 'test',
    deliveryService: true,
  }),
  secrets: [],
  providerOfSecond: null,
  sign: (body) => ({ method: 'POST', headers: {}, body }),
  headers: [],
  tolerance_s: null,
  syntax: 'form',
  vectors: [],
  events: [
    ...['0', '1', '2', '3', '4'].map((code) => row(`ResponseCode ${code}`, coded(code))),
    row('ResponseCode missing', posted('')),
    ...['100', '101', '401', '403', '500'].map((code) => row(`SDK ResponseCode ${code}`, posted(code))),
    row(
      'delivery service of the SDK',
      '{"MerchantCode":"TESTMERCH","ReferenceId":"ORD-1001-A1","TokenId":202603031012345678,"Amount":2700.00,"ResponseCode":"0"}',
    ),
  ],
}
