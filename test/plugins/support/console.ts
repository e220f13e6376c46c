import { admin, type Answer, type Login, type TestService } from '../../support/service.ts'

type Headers = Record<string, string>
/** What a form sends; a list may have a name several times. */
type Fields = Headers | [string, string][]

/** The console of a service as a browser without script sees it. A redirect is an answer of its own. */
export function openConsole ({ url }: Pick<TestService, 'url'>) {
  async function ask (path: string, init: RequestInit): Promise<Answer> {
    const response = await fetch(`${url}/console${path}`, { redirect: 'manual', ...init })
    return { status: response.status, headers: response.headers, body: await response.text() }
  }
  const open = (path: string, cookie: string, headers: Headers = {}): Promise<Answer> => ask(path, { headers: { cookie, ...headers } })
  /** The page to which a path leads. */
  const follow = async (path: string, cookie: string, headers: Headers = {}): Promise<Answer> => {
    const answer = await open(path, cookie, headers)
    const to = answer.headers.get('location')
    return to === null ? answer : open(to.slice('/console'.length), cookie, headers)
  }
  const post = (path: string, fields: Fields, cookie = '', headers: Headers = { 'sec-fetch-site': 'same-origin' }): Promise<Answer> =>
    ask(path, { method: 'POST', body: new URLSearchParams(fields), headers: { cookie, ...headers } })

  /** The same for what asks first whether its reader means it: they do. */
  const confirm: typeof post = async (path, fields, cookie, headers) => {
    const requested = await post(path, fields, cookie, headers)
    const isQuestion = String(requested.body).includes('name=":confirmed" value="true"')
    const sent = Array.isArray(fields) ? fields : Object.entries(fields)
    return isQuestion ? post(path, [...sent, [':confirmed', 'true']], cookie, headers) : requested
  }

  /** Answers the cookie of a new session. */
  async function signIn ({ email, password }: Login = admin): Promise<string> {
    const { headers } = await post('/sign-in', { email, password })
    return headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  }
  return { open, follow, post, confirm, signIn }
}

/** What a browser reads in an attribute or a text. */
export const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', '\'').replaceAll('&amp;', '&')

/** What a browser would send for the form of a document, with no box ticked. */
export function formIn (page: string): Headers {
  const form = /<form method="post" action="\/console(?:\/test)?\/send"[^]*?<\/form>/.exec(page)?.[0] ?? ''
  const inputs = [...form.matchAll(/<input[^>]*>/g)].map(([tag]) => tag).filter((tag) => !tag.includes('type="checkbox"'))
    .map((tag) => [/name="([^"]*)"/.exec(tag)?.[1] ?? '', /value="([^"]*)"/.exec(tag)?.[1] ?? ''])
  const areas = [...form.matchAll(/<textarea[^>]*name="([^"]*)"[^>]*>\n([^]*?)<\/textarea>/g)].map(
    ([, name = '', text = '']) => [name, text]
  )
  const choices = [...form.matchAll(/<select[^>]*name="([^"]*)"[^>]*>([^]*?)<\/select>/g)].map(
    ([, name = '', options = '']) => [name, /value="([^"]*)" selected/.exec(options)?.[1] ?? '']
  )
  return Object.fromEntries([...inputs, ...areas, ...choices].map(([name = '', value = '']) => [name, unescaped(value)]))
}
