export const words = {
  passkeyWait: 'The password is right. Now a passkey, the code that your app shows, or one of your recovery codes.',
  passkeys: 'Passkeys',
  passkeysIntro:
    'A passkey is in a device or a password manager. It stands for the code and, where the device recognizes you, for the password too.',
  passkeyAdd: 'Add a passkey',
  passkeyNameHelp: 'So that you know it again in this list.',
  passkeyNameUsual: 'This device',
  passkeyNameFull: 'Rename the passkey {name}',
  passkeyRemove: 'Remove',
  passkeyRemoveFull: 'Remove the passkey {name}',
  passkeyRemoveIntro: 'It signs you in no more. Your other sessions end.',
  passkeyFailed: 'That did not work: the passkey was not given, or not accepted. Nothing was changed.',
  passkeyScript: 'Adding a passkey needs a browser with script.',
  passkeyUse: 'Use a passkey',
  passkeyAlone: 'Sign in with a passkey'
}
