/** Names the zone of the browser beside a time that somebody chooses, where none is named: the reader sees which time is meant. */
export function nameZone (): void {
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.name !== ':sendAt' || target.value === '') return
    const zone = target.form?.querySelector<HTMLInputElement>('[name=":timeZone"]')
    if (zone?.value !== '') return
    zone.value = new Intl.DateTimeFormat().resolvedOptions().timeZone
    zone.dispatchEvent(new Event('input', { bubbles: true }))
  })
}

/** Shows the times of a page in the zone of its reader. The title keeps them in UTC. */
export function showTimes (within: ParentNode): void {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone
  const format = new Intl.DateTimeFormat(document.documentElement.lang, {
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
    ...{ hourCycle: 'h23', timeZoneName: 'shortOffset' }
  })
  for (const element of within.querySelectorAll('time')) {
    const at = new Date(element.dateTime)
    if (element.title !== '' || Number.isNaN(at.getTime())) continue
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
    // Where the reader's zone is UTC, nothing has to change.
    if (/^(?:GMT|UTC)(?:\+0)?$/.test(parts['timeZoneName'] ?? '')) continue
    const offset = document.createElement('abbr')
    offset.title = zone
    offset.textContent = parts['timeZoneName'] ?? ''
    element.title = element.textContent
    element.replaceChildren(`${parts['year']}-${parts['month']}-${parts['day']} ${parts['hour']}:${parts['minute']} `, offset)
  }
}
