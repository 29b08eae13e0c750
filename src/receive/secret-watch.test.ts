import { expect, it } from 'vitest'
import { withDatabases } from '../../test/database.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import { stripe } from '../providers/stripe/index.ts'
import { loadOpenExceptions } from '../store/queries/close-exceptions.ts'
import { SecretWatch } from './secret-watch.ts'

const DAY_MS = 86_400_000
const start_ms = Date.parse('2026-03-01T00:00:00Z')

function endpoint(): Endpoint {
  const provider = stripe({
    webhookSecrets: [
      { label: 'new', secret: 'whsec_aaaaaaaaaaaaaaaaaaaaaaaa' },
      { label: 'old', secret: 'whsec_bbbbbbbbbbbbbbbbbbbbbbbb' },
    ],
  })
  return { name: 'stripe', provider, tenant: 'default', bucket: 0, mode: 'test' }
}

withDatabases('the watch on secrets', (open) => {
  it('P05 notices an old secret that is still used days after the new one came', async () => {
    const database = await open()
    let now_ms = start_ms
    const stripe = endpoint()
    const watch = new SecretWatch(database, new Map([['stripe', stripe]]), () => now_ms)
    const subjects = [{ tenant: 'default', subject_kind: 'endpoint' as const, subject_key: 'stripe' }]
    const opened = () => loadOpenExceptions(database, 0, 'receive', subjects)

    watch.used(stripe, 'old')
    watch.used(stripe, 'new')
    await watch.write()
    expect(await opened()).toEqual([])

    now_ms = start_ms + 6 * DAY_MS
    watch.used(stripe, 'old')
    await watch.write()
    expect(await opened()).toEqual([])

    now_ms = start_ms + 8 * DAY_MS
    for (let times = 0; times < 3; times += 1) {
      watch.used(stripe, 'old')
      await watch.write()
    }
    expect(await opened()).toMatchObject([{ kind: 'stale_secret', cause: 'old', occurrence: 1 }])
  })

  it('says nothing when only the newest secret is used', async () => {
    const database = await open()
    let now_ms = start_ms
    const stripe = endpoint()
    const watch = new SecretWatch(database, new Map([['stripe', stripe]]), () => now_ms)
    watch.used(stripe, 'old')
    watch.used(stripe, 'new')
    await watch.write()
    now_ms = start_ms + 30 * DAY_MS
    watch.used(stripe, 'new')
    await watch.write()
    const subjects = [{ tenant: 'default', subject_kind: 'endpoint' as const, subject_key: 'stripe' }]
    expect(await loadOpenExceptions(database, 0, 'receive', subjects)).toEqual([])
  })
})
