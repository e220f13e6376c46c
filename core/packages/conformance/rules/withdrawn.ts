import type { JsonObject } from '@dispatch/common'
import { type Case, judged, skipped } from '../report.ts'
import { isUnsafe } from '../run/fault-injection.ts'
import { inTurn } from '../run/in-turn.ts'
import { patientVendor } from '../run/scripted-vendor.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import type { Played } from './outcomes.ts'

const refusal = { status: 400, json: { message: 'The kit refuses it.' } }

/** Refuses each request that follows the making of a draft: the draft of the refused dispatch is taken back, by a request that names it. */
export async function withdrawnCases (subject: ProviderUnderTest, fit: readonly Played[]): Promise<Case[]> {
  const { services } = subject.installed.manifest
  const drafting = fit.filter(({ prepared: { call, result } }) =>
    call.verb === 'dispatch' && services[call.service]?.checkpoint === true && result['outcome'] === 'accepted'
  )
  if (drafting.length === 0) return []
  const cases = await inTurn(drafting, async (played) => {
    const { prepared: { name, call } } = played
    if (services[call.service]?.draftsStay === true) {
      return [skipped('withdrawn', name, 'The service declares that drafts stay at the vendor.')]
    }
    const draft = draftOf(played)
    if (draft === undefined) return []
    const positions = call.exchange.flatMap((entry, at) => at > draft.madeAt && isUnsafe(entry) ? [at] : [])
    return await inTurn(positions, async (at) => await refusedCase(subject, played, { at, id: draft.id }))
  })
  return cases.flat()
}

/** The id of a draft, and the index of the request that made it; -1 where an earlier call has. */
function draftOf ({ prepared: { call: { exchange, checkpointed } }, run: { saved } }: Played): { id: string, madeAt: number } | undefined {
  const id = saved.at(-1)?.id ?? checkpointed
  if (id === undefined) return undefined
  const madeAt = exchange.findIndex((entry) => isUnsafe(entry) && hasText(entry.answer.json ?? entry.answer.xml ?? null, id))
  return madeAt < 0 && id !== checkpointed ? undefined : { id, madeAt: id === checkpointed ? -1 : madeAt }
}

function hasText (value: unknown, text: string): boolean {
  if (typeof value === 'string' || typeof value === 'number') return String(value) === text
  return typeof value === 'object' && value !== null && Object.values(value as JsonObject).some((inner) => hasText(inner, text))
}

async function refusedCase (subject: ProviderUnderTest, { prepared }: Played, { at, id }: { at: number, id: string }): Promise<Case> {
  const { name, call } = prepared
  const exchange = call.exchange.map((entry, index) => index === at ? { ...entry, answer: refusal } : entry)
  const { result, requests } = await subject.play({ ...prepared, call: { ...call, exchange } }, {}, patientVendor)
  const refused = requests.findIndex(({ index }) => index === at)
  const after = refused < 0 ? [] : requests.slice(refused + 1)
  const isTaken = after.some(({ request: { method, path, body } }) =>
    method !== 'GET' && (decodeURIComponent(path).includes(id) || body.includes(id))
  )
  return judged('withdrawn', `${name}: request ${at + 1} of ${call.exchange.length} answered 400`,
    result.outcome !== 'rejected' || isTaken ? [] : [
      `The draft ${
        JSON.stringify(id)
      } stays at the vendor: say how it is taken back with context.onRefusal(), or with "withdraw" of draftFirst(). ` +
      'Where the vendor has no way, declare "draftsStay: true".'
    ])
}
