import fc from 'fast-check'
import t from 'tap'
import { dayOf } from '../day.ts'

const two = (number: number): string => String(number).padStart(2, '0')
const day = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }).map((date) =>
  date.toISOString().slice(0, 10)
)
const offset = fc.oneof(
  fc.constantFrom('', 'Z', 'z', '+00:00', '-00:00'),
  fc.tuple(fc.constantFrom('+', '-'), fc.nat(23), fc.nat(59)).map(([sign, hours, minutes]) => `${sign}${two(hours)}:${two(minutes)}`)
)
const clock = fc.tuple(fc.nat(23), fc.nat(59), fc.option(fc.tuple(fc.nat(59), fc.constantFrom('', '.5', '.123456789')), { nil: undefined }))
  .map(([hours, minutes, rest]) => `${two(hours)}:${two(minutes)}${rest === undefined ? '' : `:${two(rest[0])}${rest[1]}`}`)

await t.test('a day is the one that is written, whatever time and offset follow', (t) => {
  fc.assert(
    fc.property(day, clock, offset, fc.constantFrom('T', 't', ' '),
      (date, time, zone, between) =>
        [date, `${date}${zone}`, `${date}${between}${time}${zone}`, `${date}${between}${time}${zone}[Europe/Paris]`].every((text) =>
          dayOf(text) === date
        ))
  )
  t.equal(dayOf('2026-11-26T00:00:00+01:00'), '2026-11-26', 'midnight in Paris, which is the 25th in UTC')
  t.equal(dayOf('2026-11-26T23:30:00-08:00'), '2026-11-26', 'half an hour before midnight in Seattle, which is the 27th in UTC')
  t.equal(dayOf('2024-02-29'), '2024-02-29')
  t.equal(dayOf('2026-11-26 00:00:00+01'), '2026-11-26', 'PostgreSQL')
  t.equal(dayOf('2026-11-26 00:00:00 -0330'), '2026-11-26', 'Ruby')
  t.equal(dayOf('2026-11-26 00:00:00 UTC'), '2026-11-26', 'Ruby in UTC')
  t.end()
})

await t.test('what is no day of the calendar, or has more around it, is none', (t) => {
  const none = ['', '2026-02-29', '2026-02-30', '2026-13-01', '2026-00-10', '2026-01-00', '26-11-26', '2026-11-26 ', ' 2026-11-26',
    '2026-11-26T', '2026-11-26T10', '2026-11-26T24:00:00', '2026-11-26T24:00:00Z', '2026-11-26T10:60:00Z', '2026-11-26T10:00:60Z',
    '2026-11-26T10:00:00+24:00', '20261126', '2026-11-26T10:00:00[]', '2026-11-26T10:00:00[a b]', '2026-11-26-', '2026-11-26+1',
    '2026-11-26T10:00:00ZZ', '2026-11-26\n', '26/11/2026', 20261126, null, undefined, {}, [
    '2026-11-26'
  ]]
  for (const value of none) t.equal(dayOf(value), undefined, JSON.stringify(value))
  t.end()
})
