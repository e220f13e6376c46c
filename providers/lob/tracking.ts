type Status = 'accepted' | 'mailed' | 'in_transit' | 'delivered' | 'returned' | 'failed' | 'cancelled'

/** The delivery status for the last part of an event's name: https://docs.lob.com/#tag/Tracking-Events. */
const tracked = {
  mailed: 'mailed',
  in_transit: 'in_transit',
  in_local_area: 'in_transit',
  processed_for_delivery: 'in_transit',
  pickup_available: 'in_transit',
  're-routed': 'in_transit',
  international_exit: 'in_transit',
  delivered: 'delivered',
  returned_to_sender: 'returned'
} as const satisfies Record<string, Status>

/** Lob's events as delivery statuses; those of certified letters have their own names. */
export const events: Readonly<Record<string, Status>> = {
  'letter.created': 'accepted',
  'letter.rendered_pdf': 'accepted',
  'letter.rendered_thumbnails': 'accepted',
  'letter.rejected': 'failed',
  'letter.failed': 'failed',
  'letter.deleted': 'cancelled',
  ...Object.fromEntries(
    Object.entries(tracked).flatMap(([word, status]) => [[`letter.${word}`, status], [`letter.certified.${word}`, status]])
  )
}

/** The words of a polled letter: of its production, then of its last tracking event. */
export const statuses: Readonly<Record<string, Status>> = {
  processed: 'accepted',
  rendered: 'accepted',
  failed: 'failed',
  deleted: 'cancelled',
  ...tracked
}

type Followed = { deleted?: boolean, tracking_events?: readonly { name: string }[] | null, status?: string }

/** The word for the state of a letter. A polled tracking event is called `In Transit`, a sent one `letter.in_transit`. */
export function wordOf ({ deleted = false, tracking_events: events, status = 'processed' }: Followed): string {
  return deleted ? 'deleted' : events?.at(-1)?.name.toLowerCase().replaceAll(' ', '_') ?? status
}
