/** The words of logins of devices in English. */
export const words = {
  device: 'Sign in a command',
  deviceLink: 'Sign in a command with a code',
  deviceIntro: 'A command such as “dispatch login” shows a code of eight letters. Type it here, and the command gets an API key of ' +
    'yours.',
  deviceCode: 'Code',
  deviceCodeHelp: 'As the command shows it, such as WDJB-MJHT. Never type a code that somebody has sent you.',
  deviceNext: 'Next',
  deviceUnknown: 'No command waits for this code: it never was, has been used or has expired. Start the command again.',
  deviceAsks: 'A command asks for a key of yours',
  deviceWarning: 'Whoever holds the key acts as you, as far as you grant it here. Grant it only if you have started this command ' +
    'yourself, at a machine that is before you now. Nobody from the service or your company will ever ask you to type a ' +
    'code.',
  deviceElsewhere:
    'The command runs at another address than yours. That is right for a machine that you have signed in to from afar, and ' +
    'wrong for a command at your own desk.',
  deviceClient: 'It calls itself',
  deviceAddress: 'It runs at',
  deviceBegun: 'Started',
  deviceExpires: 'Code valid until',
  deviceKeyName: 'Name of the key',
  deviceScopes: 'What it may do',
  deviceScopesHelp: 'What the command asks for is ticked, as far as you may do it yourself and a test key can have it. Only a live key ' +
    'can have the rest.',
  deviceGrant: 'Grant the key',
  deviceDecline: 'Decline',
  deviceGranted: 'Granted. Go back to the command: it takes the key within a few seconds. The key is listed among your API keys, where ' +
    'you revoke it.',
  deviceDeclined: 'Declined. The command gets nothing.',
  auditDeviceGranted: 'Key granted to a command',
  auditDeviceDeclined: 'Login of a command declined'
}
