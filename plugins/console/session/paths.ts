/** In seconds: for how long a sign-in waits for its second factor, and a challenge for its answer. */
export const fiveMinutes = 300

/** Where somebody goes on who has just signed in: who was on their way to no page is led to where they begin (begin.ts). */
export function landingOf (next: string): string {
  return next === '/console' ? '/console/begin' : next
}

/** A path of the console to go on with; any other address leads to its first page. */
export function ownPath (path: unknown): string {
  return typeof path === 'string' && /^\/console(?:[/?][\w/.?=&%+:[\]-]*)?$/.test(path) && !/\/\/|\.\./.test(path) ? path : '/console'
}
