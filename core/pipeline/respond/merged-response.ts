import type { JsonObject, TurnedAway } from '@dispatch/common'
import { hasRecipients, type ProviderResponse, type RecipientReport, sendStatus } from '@dispatch/contract'
import type { StepError } from '@dispatch/tables'
import type { StepRecord, StepRow } from '../../store/dispatch/dispatch-views.ts'
import type { Settlement } from '../../store/dispatch/steps.ts'

/** The provider's answer to a step, updated by the steps that sent to its remaining recipients. */
export function mergedResponse ({ response, remaining }: Pick<StepRecord, 'response' | 'remaining'>): ProviderResponse | null {
  return response === null ? null : remaining.reduce(withRest, response)
}

/** The outcome of a rest: a step that sends to the remaining recipients of an earlier call. */
type RestState = Pick<StepRow, 'status' | 'response' | 'error' | 'next_try_at'>

/** An answer updated by the outcome of one rest. */
export function withRest (answer: ProviderResponse, rest: RestState): ProviderResponse {
  const report = { ...reportOf(answer), ...reportAfter(reportOf(answer), rest) }
  return { ...answer, ...report, status: sendStatus(report) }
}

/** The recipients in the answer of an e-mail. Their shape was checked when the answer came. */
function reportOf (answer: (ProviderResponse & RecipientReport) | null): RecipientReport {
  const { accepted, rejected, waiting, uncertain } = answer ?? {}
  return { ...(accepted && { accepted }), ...(rejected && { rejected }), ...(waiting && { waiting }), ...(uncertain && { uncertain }) }
}

/** The recipients after a rest. An outcome that a person set has no answer: it counts for all recipients of the rest. */
function reportAfter (
  { accepted = [], rejected = [], waiting = [] }: RecipientReport,
  { status, response, error, next_try_at: nextTryAt }: RestState
): RecipientReport {
  const reported = response === null ? { accepted: waiting.map(({ address }) => address) } : reportOf(response)
  if (status === 'accepted') {
    return {
      accepted: [...accepted, ...reported.accepted ?? []],
      rejected: [...rejected, ...reported.rejected ?? []],
      waiting: reported.waiting ?? []
    }
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

/** The recipients who still wait for the mail. */
export function waitingIn (answer: ProviderResponse | null): readonly TurnedAway[] {
  return reportOf(answer).waiting ?? []
}

/** The facts in the timeline about the recipients of an e-mail, unless all of them were accepted. */
export function recipientFacts (service: string, settlement: Settlement): JsonObject {
  if (!hasRecipients(service) || settlement.outcome !== 'accepted') return {}
  const { accepted = [], rejected = [], waiting = [] } = reportOf(settlement.response)
  return rejected.length + waiting.length === 0 ? {} : { accepted, rejected, waiting }
}
