import { at, type Json, type Static, Type } from '@dispatch/core/provider'

/** Why Lob could not make a letter from an accepted request: `failure_reason` and `remediation`, both texts. */
export const FailureReason = Type.Optional(Type.Unsafe<Json>({}))

export const Letter = Type.Object({
  id: Type.String(),
  status: Type.Optional(Type.String()),
  deleted: Type.Optional(Type.Boolean()),
  expected_delivery_date: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  tracking_number: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  failure_reason: FailureReason,
  tracking_events: Type.Optional(Type.Union([Type.Array(Type.Object({ name: Type.String() })), Type.Null()]))
})
export const Letters = Type.Object({ data: Type.Array(Letter) })
export const Deleted = Type.Object({ deleted: Type.Optional(Type.Boolean()) })

/** What an event says: https://docs.lob.com/#tag/Events */
export const Event = Type.Object({
  id: Type.String(),
  reference_id: Type.String(),
  event_type: Type.Object({ id: Type.String() }),
  body: Type.Optional(Type.Object({ failure_reason: FailureReason }))
})

type Facts = { expectedDeliveryDate?: string, trackingNumber?: string, reason?: string }

/** The answer to an accepted request. */
export function answer (letter: Static<typeof Letter>): { id: string, status: string } {
  return { id: letter.id, status: letter.status ?? 'processed', ...facts(letter) }
}

/** Lob's facts about a letter for people. */
export function facts ({ expected_delivery_date: date, tracking_number: number, failure_reason: failure }: Static<typeof Letter>): Facts {
  return {
    ...(typeof date === 'string' && { expectedDeliveryDate: date }),
    ...(typeof number === 'string' && { trackingNumber: number }),
    ...reasonOf(failure)
  }
}

/** Why there is no letter, in Lob's own words. */
export function reasonOf (failure: Json = null): { reason?: string } {
  const reason = ['/failure_reason', '/remediation'].map((pointer) => at(failure, pointer)).filter((text) => typeof text === 'string').join(
    ' '
  )
  return reason === '' ? {} : { reason }
}
