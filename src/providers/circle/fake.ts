import { X509Certificate } from 'node:crypto'
import type { FakeAnswer, FakeRequest, FakeServer, Faults } from '../fake-server.ts'
import { startFakeServer } from '../fake-server.ts'
import { fieldIn, listIn, textIn } from '../field.ts'
import type { SampleMessage } from '../sample-maker.ts'
import { FakeAnswers, found, INVALID, NOT_FOUND } from './fake-answers.ts'
import { FakeBook } from './fake-book.ts'
import type { FakeMint } from './mint/fake.ts'
import { newFakeMint } from './mint/fake.ts'
import { SAMPLE_CERTIFICATE } from './mint/sample-certificate.ts'
import {
  depositOf,
  notificationBody,
  SAMPLE_TOKENS,
  sampleAddress,
  signCircle,
  transferOf,
} from './sample.ts'
import { SAMPLE_KEY } from './sample-key.ts'
import { uuidFrom } from './uuid.ts'

export interface FakeDeposit {
  /** Transaction id. Default: one that follows from how many there are. */
  readonly id?: string | undefined
  /** Decimal text in USDC. */
  readonly amount: string
  readonly order?: string | undefined
  /** Default `COMPLETE`. */
  readonly state?: string | undefined
}

/** A stand-in for Circle's API, Wallets and Mint, that signs its webhooks with the sample keys. */
export interface FakeCircle extends FakeServer {
  /** Somebody sends USDC to the address of an order. Gives the transaction's id. */
  deposit(deposit: FakeDeposit): string
  /** A transaction reaches another state. */
  reach(id: string, state: string): void
  /** The notifications that the present states imply, as Circle would send them now. */
  messages(): readonly SampleMessage[]
  readonly mint: FakeMint
}

/** @param now_ms the clock of the stand-in, Unix milliseconds */
export async function startFakeCircle(now_ms: () => number = Date.now): Promise<FakeCircle> {
  const book = new FakeBook()
  const answers = new FakeAnswers()
  const ciphertexts = new Set<unknown>()
  const mint = newFakeMint(now_ms)
  const isoNow = () => new Date(now_ms()).toISOString()
  let made = 0

  const server = await startFakeServer((request, faults) => {
    if (faults.locked_out || !request.headers.authorization?.startsWith('Bearer ')) {
      return { status: 401, body: { code: 3, message: 'Unauthorized' } }
    }
    if (faults.list_breaks && request.query.has('pageAfter')) return { status: 500, body: {} }
    return wallets(request, faults) ?? mint.handle(request, faults) ?? NOT_FOUND
  })

  function wallets({ method, path, query, body }: FakeRequest, faults: Faults): FakeAnswer | undefined {
    const seen_ms = now_ms() - faults.lag_ms
    const key = /^\/v2\/notifications\/publicKey\/([^/]+)$/.exec(path)?.[1]
    if (key !== undefined) return key === SAMPLE_KEY.id ? found(SIGNING_KEY) : NOT_FOUND
    if (path === '/v1/w3s/config/entity/publicKey') return found({ publicKey: ENTITY_KEY })
    if (method === 'POST' && path === '/v1/w3s/developer/transactions/transfer') {
      return answers.once(faults, body, send)
    }
    if (path === '/v1/w3s/transactions') {
      const type = query.get('txType')
      const page = book
        .page(seen_ms, query)
        .filter((object) => type === null || object.transactionType === type)
      return found({ transactions: page })
    }
    const id = /^\/v1\/w3s\/transactions\/([^/]+)$/.exec(path)?.[1]
    const transaction = id === undefined ? undefined : book.at(id, seen_ms)
    return transaction === undefined ? undefined : found({ transaction })
  }

  function send(transfer: unknown, key: string): FakeAnswer {
    const token = SAMPLE_TOKENS.find(({ tokenId }) => tokenId === textIn(transfer, 'tokenId'))
    const amount = listIn(transfer, 'amounts')[0]
    const ciphertext = fieldIn(transfer, 'entitySecretCiphertext')
    // The real API takes each encryption of the entity secret once.
    const fresh = typeof ciphertext === 'string' && !ciphertexts.has(ciphertext)
    if (token === undefined || typeof amount !== 'string' || !fresh) return INVALID
    ciphertexts.add(ciphertext)
    const id = uuidFrom(`fake-transfer/${key}`)
    const refId = textIn(transfer, 'refId') ?? ''
    const address = textIn(transfer, 'destinationAddress') ?? ''
    book.put(
      id,
      transferOf({ id, state: 'INITIATED', token, amount, address, at: isoNow(), refId }),
      now_ms(),
    )
    return found({ id, state: 'INITIATED' }, 201)
  }

  return Object.assign(server, {
    mint,
    deposit: ({ id, amount, order, state = 'COMPLETE' }: FakeDeposit): string => {
      made += 1
      const known = id ?? uuidFrom(`fake-deposit/${made}`)
      const token = SAMPLE_TOKENS[0]!
      const address = sampleAddress(order)
      book.put(known, depositOf({ id: known, state, token, amount, address, at: isoNow() }), now_ms())
      return known
    },
    reach: (id: string, state: string): void => {
      const before = book.at(id, now_ms())
      if (before === undefined) throw new Error(`the stand-in has no transaction ${id}`)
      const firstConfirmDate = before.firstConfirmDate ?? (/^CO/.test(state) ? isoNow() : null)
      book.put(id, { ...before, state, firstConfirmDate, updateDate: isoNow() }, now_ms())
    },
    messages: (): readonly SampleMessage[] =>
      book.all(now_ms()).map((transaction) => {
        const body = notificationBody(transaction, String(transaction.updateDate))
        return { method: 'POST', query: '', headers: signCircle(body), body }
      }),
  })
}

const ENTITY_KEY = String(
  new X509Certificate(SAMPLE_CERTIFICATE).publicKey.export({ type: 'spki', format: 'pem' }),
)
const SIGNING_KEY = { ...SAMPLE_KEY, algorithm: 'ECDSA_SHA_256', createDate: '2026-01-01T00:00:00Z' }
