/**
 * What becomes of a step that its provider has accepted, in the words of its service. A status that may not follow another is recorded in
 * the timeline and changes nothing.
 */
export type DeliveryRules = {
  /**
   * Which status may follow which. The first status may be any. The order of the keys counts: a status stands after all that it may follow.
   */
  transitions: Readonly<Record<string, readonly string[]>>
  /** What vendors tell besides: it changes no status. */
  marks?: readonly string[]
  /** Statuses that another one follows only in exceptional cases: they are not polled any more. */
  nearlyLast?: readonly string[]
  /** The sentences for clients about the statuses that are refusals. */
  refusals: Readonly<Record<string, string>>
  /** The version of the API from which on answers have the status. */
  since?: string
  /** Steps can wait for its statuses. Companies are called back about them in every version of the API. */
  defers?: true
  /** One step has several recipients, and its provider tells of each. */
  recipients?: true
  /**
   * The vendor hands out a document of its own, such as a signed one: the status from which on it has it, and one before, on which the
   * document is taken as it was sent.
   */
  document?: { from: string, before: string }
}

/** A sentence of refusals: nothing is paid back. */
export const staysPaid = 'The price stays charged, because a dispatch is paid when its vendor has accepted it.'
