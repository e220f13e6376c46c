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
    const asked = await post(path, fields, cookie, headers)
    const isQuestion = String(asked.body).includes('name=":confirmed" value="true"')
    const sent = Array.isArray(fields) ? fields : Object.entries(fields)
    return isQuestion ? post(path, [...sent, [':confirmed', 'true']], cookie, headers) : asked
  }

  /** Answers the cookie of a new session. */
  async function signIn ({ email, password }: Login = admin): Promise<string> {
    const { headers } = await post('/sign-in', { email, password })
    return headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  }
  return { open, follow, post, confirm, signIn }
}
