import { type Context, type JsonObject, outcomeUnknown, refused, unavailable } from '@dispatch/core/provider'
import type { TestProviders } from '../../plugins/support/providers.ts'

/**
 * What a vendor does with a request, and whether the answer comes. `hang …`: it never does, and the process may die meanwhile. `break`: the
 * provider fails before it asks the vendor.
 */
export type Act =
  | 'hang first, refuse'
  | 'hang first, close'
  | 'accept'
  | 'refuse'
  | 'shut out'
  | 'break'
  | 'close'
  | 'lose'
  | 'drop'
  | 'hang first'
  | 'hang after checkpoint'
  | 'hang accepted'

/** Providers of all kinds, before one vendor that counts what it has taken. */
export type StagedVendor = {
  /** What it does with the next requests; it accepts all others. */
  acts: Act[]
  calls: { code: string, reference: string, key: string, checkpointed: string | undefined }[]
  /** What it has taken, by our reference. */
  taken: string[]
  /** The times at which it was looked into. */
  looks: Date[]
  /** What a look finds, instead of what is there. */
  look?: (() => Promise<unknown>) | undefined
  /** Resolves when a request hangs. */
  hanging: () => Promise<void>
  /** Lets go what hangs. */
  release: () => void
}

type Call = Context<JsonObject, JsonObject>

/** Seconds. */
export const ttl = 12 * 3600
export const visibleAfter = 120
/** That of a call, for which no provider here says anything else. */
export const timeLimit = 60

const kinds = {
  keyed: `idempotency: { kind: 'key', ttl: ${ttl} }`,
  'keyed-found': `idempotency: { kind: 'key', ttl: ${ttl} }`,
  found: `idempotency: { kind: 'lookup', visibleAfter: ${visibleAfter} }`,
  mute: 'idempotency: { kind: \'none\' }',
  draft: 'idempotency: { kind: \'none\' }, checkpoint: true',
  'draft-found': `idempotency: { kind: 'lookup', visibleAfter: ${visibleAfter} }, checkpoint: true`
}
export type Kind = keyof typeof kinds
export const kindsOfProviders = Object.keys(kinds) as Kind[]

/** Adds the providers `keyed`, `keyed-found`, `found`, `mute`, `draft` and `draft-found`, all for invoices. */
export async function stageVendor (providers: TestProviders): Promise<StagedVendor> {
  let waiting: (() => void)[] = []
  let reached = Promise.withResolvers<unknown>()
  const keys = new Set<string>()
  const stage: StagedVendor = {
    acts: [],
    calls: [],
    taken: [],
    looks: [],
    async hanging () {
      await reached.promise
      reached = Promise.withResolvers()
    },
    release () {
      for (const letGo of waiting) letGo()
      waiting = []
    }
  }
  const hang = async (): Promise<void> => {
    const held = new Promise<void>((resolve) => waiting.push(resolve))
    reached.resolve(true)
    await held
  }

  for (const code of kindsOfProviders) {
    const drafts = code.startsWith('draft')
    const dispatch = async (_request: unknown, { reference, idempotencyKey: key, checkpoint, checkpointed }: Call): Promise<unknown> => {
      stage.calls.push({ code, reference, key, checkpointed })
      const answer = { id: `${code}-${reference}`, status: 'taken' }
      if (code.startsWith('keyed') && keys.has(key)) return answer
      const act = stage.acts.shift() ?? 'accept'
      if (act.startsWith('hang first')) await hang()
      if (act.endsWith('close')) throw unavailable('Closed.')
      if (act === 'break') throw new TypeError('It broke before it sent anything.')
      if (act === 'shut out') throw refused('key', 'Who are you?')
      if (act.endsWith('refuse')) throw refused('no', 'Not this.')
      if (drafts) await checkpoint(`draft-${reference}`)
      if (act === 'hang after checkpoint') await hang()
      if (act === 'drop') throw outcomeUnknown('Nothing was heard.')
      stage.taken.push(reference)
      keys.add(key)
      if (act === 'hang accepted') await hang()
      if (act === 'lose') throw outcomeUnknown('The answer was lost.')
      return answer
    }
    const lookup = async ({ reference, checkpoint }: { reference: string, checkpoint?: string }, { now }: Call): Promise<unknown> => {
      stage.looks.push(now())
      if (stage.look !== undefined) return stage.look()
      if (stage.taken.includes(reference)) return { found: 'accepted', response: { id: `${code}-${reference}`, status: 'found' } }
      return { found: checkpoint === undefined ? 'absent' : 'draft' }
    }
    await providers.add(code, {
      errors: '{ map: { key: \'authentication_error\' } }',
      service: `documentTypes: ['INVOICE'], ${kinds[code]}`
    }, dispatch, code.endsWith('found') ? { lookup } : {})
  }
  return stage
}
