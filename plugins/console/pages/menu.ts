import { memoizeByIdentity } from '@dispatch/common'
import { type Html, html } from '../../html.ts'
import { textIn, type Words } from '../language/language.ts'
import type { MenuEntry, Visit } from '../session/visit.ts'

/** An entry of the console's own: its words are those of its name. */
type Section = { name: keyof Words, path: string, roles?: readonly string[] }

type Group = { name: string, title?: keyof Words, sections: readonly Section[] }

/** The groups of the menu, with the entries and the roles that see them; features add others behind an entry, or at the end of a group. */
const groups: readonly Group[] = [
  { name: 'beginning', sections: [{ name: 'home', path: '/console' }, { name: 'dispatches', path: '/console/dispatches' }] },
  { name: 'sending', title: 'menuSending', sections: [{ name: 'send', path: '/console/send' }] },
  { name: 'contents', title: 'menuContents', sections: [] },
  { name: 'invoices', title: 'menuInvoices', sections: [] },
  {
    name: 'setup',
    title: 'menuSetup',
    sections: [
      { name: 'providers', path: '/console/providers' },
      { name: 'developers', path: '/console/developers' },
      { name: 'company', path: '/console/company', roles: ['admin'] }
    ]
  },
  {
    name: 'platform',
    title: 'menuPlatform',
    sections: [
      { name: 'companies', path: '/console/companies', roles: ['operator'] },
      { name: 'operation', path: '/console/operation', roles: ['operator'] }
    ]
  }
]

/** What a reader sees of a group: an entry of a feature stands behind the section that it names, which may be another feature's. */
function entriesOf (visit: Visit, { name: group, sections }: Group): MenuEntry[] {
  const own = sections.map(({ name, ...section }) => ({
    ...section,
    section: name,
    label: { en: visit.words[name], fr: visit.words[name] }
  }))
  const { menu } = visit.parts
  const all = [...own, ...menu.filter(({ after }) => after === group)]
  return all.flatMap((entry) => withThoseBehind(menu, entry)).filter((entry) => isSeen(visit, entry))
}

function withThoseBehind (menu: readonly MenuEntry[], entry: MenuEntry): MenuEntry[] {
  return [entry, ...menu.filter(({ after }) => after === entry.section).flatMap((next) => withThoseBehind(menu, next))]
}

function isSeen ({ actor: { role } }: Visit, { roles }: MenuEntry): boolean {
  return roles === undefined || roles.includes(role)
}

/** Those of features that stand behind none. */
function last (visit: Visit): MenuEntry[] {
  const { menu } = visit.parts
  return menu.filter(({ after }) => after === undefined).flatMap((entry) => withThoseBehind(menu, entry)).filter((entry) =>
    isSeen(visit, entry)
  )
}

/** The entries of the menu of a reader. */
export function menuEntries (visit: Visit): MenuEntry[] {
  return [...groups.flatMap((group) => entriesOf(visit, group)), ...last(visit)]
}

/** The menu of a reader. `now`: the section that is open. It is made once for a role and a language: each page has it. */
export function menuOf (visit: Visit, now: string | undefined): Html {
  const made = menus(visit.parts)
  const key = `${visit.words.code} ${visit.actor.role} ${now ?? ''}`
  const menu = made.get(key) ?? menuFor(visit, now)
  made.set(key, menu)
  return menu
}

const menus = memoizeByIdentity<Visit['parts'], Map<string, Html>>(() => new Map())

function menuFor (visit: Visit, now: string | undefined): Html {
  const { words } = visit
  const link = ({ section, path, label }: MenuEntry): Html =>
    html`<a href="${path}"${section === now ? html` aria-current="page"` : html``}>${textIn(words, label)}</a>`
  const shown = groups.map((group) => ({ title: group.title, entries: entriesOf(visit, group) })).filter(({ entries }) =>
    entries.length > 0
  )
  return html`<nav aria-label="${words.menu}">${
    shown.map(({ title, entries }) => html`<div>${title === undefined ? html`` : html`<p>${words[title]}</p>`}${entries.map(link)}</div>\n`)
  }<div>${last(visit).map(link)}<a href="/docs${words.code === 'fr' ? '/fr' : ''}">${words.documentation}</a></div></nav>`
}
