import fc from 'fast-check'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { dueAt, maxAhead, type Window, zonesOf } from '../request/due.ts'

const now = new Date('2026-03-14T09:30:00Z')
const sent = (sendAt: string, timeZone?: string, windows: readonly Window[] = []): unknown => {
  const due = dueAt({ sendAt, ...(timeZone === undefined ? {} : { timeZone }) }, now, windows)
  return 'at' in due ? due.at.toISOString() : due.problems.map(({ path, code }) => `${path} ${code}`).join()
}

void t.test('a time is RFC 3339 with an offset, or the local time of a zone', (t) => {
  t.equal(sent('2026-03-29T09:00:00+02:00'), '2026-03-29T07:00:00.000Z')
  t.equal(sent('2026-03-28t09:00z', 'Europe/Paris'), '2026-03-28T09:00:00.000Z', 'an offset needs no zone')
  t.equal(sent('2026-03-28T09:00', 'Europe/Paris'), '2026-03-28T08:00:00.000Z')
  t.equal(sent('2026-03-30T09:00', 'Europe/Paris'), '2026-03-30T07:00:00.000Z', 'in summer an hour earlier')
  t.equal(sent('2026-03-28T09:00'), '/timeZone required')
  t.end()
})

void t.test('a time that has passed since it was checked means now, within the hours', (t) => {
  t.strictSame(dueAt({ sendAt: '2026-03-14T09:00:00Z' }, now, [], true), { at: now })
  t.strictSame(dueAt({ sendAt: '2026-03-14T08:00:00Z' }, now, [{ zones: ['UTC'], hours: { notAfter: '09:00' } }], true), {
    at: new Date('2026-03-15T00:00:00Z')
  })
  t.end()
})

void t.test('an hour that clocks skip does not exist; of one that comes twice, the first is meant', (t) => {
  has(t, dueAt({ sendAt: '2026-03-29T02:30', timeZone: 'Europe/Paris' }, now, []), {
    problems: [{ path: '/sendAt', code: 'no_such_time', message: /skip this time: the next that they show is 2026-03-29T03:30:00\.$/ }]
  })
  t.equal(sent('2026-10-25T02:30', 'Europe/Paris'), '2026-10-25T00:30:00.000Z')
  for (const day of ['2026-02-30', '2026-13-01', '2027-02-29']) t.equal(sent(`${day}T09:00`, 'UTC'), '/sendAt no_such_time', day)
  t.equal(sent('2026-04-31T09:00:00Z'), '/sendAt no_such_time')
  t.end()
})

void t.test('it lies ahead, by a year at most', (t) => {
  t.equal(sent(now.toISOString()), '/sendAt in_the_past')
  t.equal(sent('2025-03-14T09:30:01Z'), '/sendAt in_the_past')
  t.equal(sent(new Date(now.getTime() + 1).toISOString()), new Date(now.getTime() + 1).toISOString())
  const last = now.getTime() + maxAhead * 86_400_000
  t.equal(sent(new Date(last).toISOString()), new Date(last).toISOString())
  t.equal(sent(new Date(last + 1).toISOString()), '/sendAt too_late')
  t.end()
})

void t.test('what is due outside its hours waits for the next that are open, in all zones of a country', (t) => {
  const work = { notBefore: '08:00', notAfter: '20:00', days: [1, 2, 3, 4, 5, 6] }
  const paris = [{ zones: ['Europe/Paris'], hours: work }]
  t.equal(sent('2026-03-16T05:00:00Z', undefined, paris), '2026-03-16T07:00:00.000Z', 'a Monday, before eight')
  t.equal(sent('2026-03-16T12:34:56Z', undefined, paris), '2026-03-16T12:34:56.000Z')
  t.equal(sent('2026-03-16T19:00:00Z', undefined, paris), '2026-03-17T07:00:00.000Z', 'from eight in the evening on')
  t.equal(sent('2026-03-28T21:00:00Z', undefined, paris), '2026-03-30T06:00:00.000Z', 'over a Sunday on which clocks change')
  t.equal(sent('2026-03-16T08:00:00Z', undefined, [{ zones: zonesOf('US'), hours: { notBefore: '08:00', notAfter: '21:00' } }]),
    '2026-03-16T18:00:00.000Z', 'at eight in Honolulu it is two in New York')
  t.equal(sent('2026-03-16T12:00:00Z', undefined, [{ zones: ['UTC'], hours: { notBefore: '22:00', notAfter: '06:00' } }]),
    '2026-03-16T22:00:00.000Z', 'hours over midnight')
  t.equal(sent('2026-03-16T12:00:00Z', undefined, [
    { zones: ['UTC'], hours: { notAfter: '06:00' } },
    { zones: ['UTC'], hours: { notBefore: '07:00' } }
  ]), '/notBefore never_open')
  t.end()
})

const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
const time = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 })).map((parts) =>
  parts.map((part) => String(part).padStart(2, '0')).join(':')
)
const moment = fc.integer({ min: 1, max: 300 * 24 * 60 }).map((minutes) => new Date(now.getTime() + minutes * 60_000))
const clock = (at: Date, timeZone: string): string =>
  new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(at)

void t.test('in each zone of the world a local time is what its clocks show then, or does not exist', (t) => {
  fc.assert(
    fc.property(moment, zone, (at, timeZone) => {
      const local = clock(at, timeZone)
      const due = dueAt({ sendAt: local.replace(' ', 'T'), timeZone }, now, [])
      // Of what clocks show twice, the first; both are shown as the same.
      return 'at' in due ? clock(due.at, timeZone) === local && due.at <= at : due.problems[0]?.code === 'in_the_past'
    })
  )
  t.end()
})

void t.test('around a change of clocks, it is sent at the first moment that is within its hours', (t) => {
  const step = 5
  const at = (minutes: number): string => [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
  fc.assert(
    fc.property(zone, fc.integer({ min: -36, max: 36 }), fc.integer({ min: -36, max: 36 }), fc.integer({ min: 1, max: 48 }),
      (timeZone, from, opens, lasts) => {
        const change = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone).getTimeZoneTransition('next')
        if (change === null || change.epochMilliseconds - now.getTime() > 300 * 86_400_000) return true
        const minutes = (change.hour * 60 + change.minute + opens * step + 1440) % 1440
        const [notBefore, notAfter] = [at(minutes), at((minutes + lasts * step) % 1440)]
        const isOpen = (moment: number): boolean => {
          const there = Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(timeZone)
          const shown = at(there.hour * 60 + there.minute)
          return notBefore < notAfter ? shown >= notBefore && shown < notAfter : shown >= notBefore || shown < notAfter
        }
        const first = change.epochMilliseconds + from * step * 60_000
        let expected = first
        while (!isOpen(expected)) expected += step * 60_000
        const due = dueAt({ sendAt: new Date(first).toISOString() }, now, [{ zones: [timeZone], hours: { notBefore, notAfter } }])
        return 'at' in due && due.at.getTime() === expected
      })
  )
  t.equal(sent('2026-10-25T01:15:00Z', undefined, [{ zones: ['Europe/Paris'], hours: { notBefore: '02:30', notAfter: '12:00' } }]),
    '2026-10-25T01:30:00.000Z', 'half past two comes a second time')
  t.end()
})

void t.test('whatever the hours and the zone, it is sent within the hours, not early, and not a minute after they open', (t) => {
  fc.assert(
    fc.property(moment, zone, time, time, (at, timeZone, notBefore, notAfter) => {
      if (notBefore === notAfter) return true
      const due = dueAt({ sendAt: at.toISOString() }, now, [{ zones: [timeZone], hours: { notBefore, notAfter } }])
      if (!('at' in due)) return false
      const isOpen = (moment: Date): boolean => {
        const shown = clock(moment, timeZone).slice(11, 16)
        return notBefore < notAfter ? shown >= notBefore && shown < notAfter : shown >= notBefore || shown < notAfter
      }
      const minuteBefore = new Date(due.at.getTime() - 60_000)
      return isOpen(due.at) && due.at >= at && (minuteBefore < at || !isOpen(minuteBefore))
    })
  )
  t.end()
})
