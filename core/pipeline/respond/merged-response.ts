import type { JsonObject } from '@dispatch/common'
import { type RecipientReport, sendStatus, type TurnedAway } from '../../contract/recipients.ts'
import type { ProviderResponse } from '../../contract/response.ts'
import type { StepError } from '../../store/db/schema.ts'
import type { StepRecord, StepRow } from '../../store/dispatch/dispatch-views.ts'
import type { Settlement } from '../../store/dispatch/steps.ts'

/** What a step was answered, with what has become of those whom it left. */
export function mergedResponse ({ response, rests }: Pick<StepRecord, 'response' | 'rests'>): ProviderResponse | null {
  return response === null ? null : rests.reduce(withRest, response)
}

/** What a rest has come to. */
type RestState = Pick<StepRow, 'status' | 'response' | 'error' | 'next_try_at'>

/** An answer with what a rest of it has come to. */
export function withRest (answer: ProviderResponse, rest: RestState): ProviderResponse {
  const report = { ...reportOf(answer), ...reportAfter(reportOf(answer), rest) }
  return { ...answer, ...report, status: sendStatus(report) }
}

/** What the answer of an e-mail tells of its recipients: it was read so when it came. */
function reportOf (answer: (ProviderResponse & RecipientReport) | null): RecipientReport {
  const { accepted, rejected, waiting, uncertain } = answer ?? {}
  return { ...(accepted && { accepted }), ...(rejected && { rejected }), ...(waiting && { waiting }), ...(uncertain && { uncertain }) }
}

/** How the recipients stand once a rest has come to this. A person's word on it has no answer: it is about all of them. */
function reportAfter (
  { accepted = [], rejected = [], waiting = [] }: RecipientReport,
  { status, response, error, next_try_at: nextTryAt }: RestState
): RecipientReport {
  const told = response === null ? { accepted: waiting.map(({ address }) => address) } : reportOf(response)
  if (status === 'accepted') {
    return { accepted: [...accepted, ...told.accepted ?? []], rejected: [...rejected, ...told.rejected ?? []], waiting: told.waiting ?? [] }
  }
  const turned = waiting.map((recipient) => ({ ...recipient, ...reasonOf(error) }))
  if (status === 'uncertain') return { waiting: [], uncertain: turned }
  const isOver = status === 'rejected' || (status === 'unavailable' && nextTryAt === null)
  return isOver ? { rejected: [...rejected, ...turned], waiting: [] } : { waiting: turned }
}

function reasonOf (error: StepError | null): Partial<TurnedAway> {
  if (error === null) return {}
  const code = Number(error.details?.[0]?.code)
  return { message: error.message, ...(Number.isInteger(code) ? { code } : {}) }
}

/** Who is still to be sent to. */
export function waitingIn (answer: ProviderResponse | null): readonly TurnedAway[] {
  return reportOf(answer).waiting ?? []
}

/** What a timeline says of the recipients, where not all of them have been sent to. */
export function recipientFacts (service: string, settlement: Settlement): JsonObject {
  if (service !== 'email' || settlement.outcome !== 'accepted') return {}
  const { accepted = [], rejected = [], waiting = [] } = reportOf(settlement.response)
  return rejected.length + waiting.length === 0 ? {} : { accepted, rejected, waiting }
}
