import { sign } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * Certificates that we made ourselves, with the name that PayPal's sandbox signs under. They sign samples and what the
 * stand-in sends, and are worth nothing: only an endpoint that is told to trust `standInRoot` accepts them.
 */
/** Trusted by nobody who is not told to. */
export const standInRoot = `-----BEGIN CERTIFICATE-----
MIIDDDCCAfSgAwIBAgIBATANBgkqhkiG9w0BAQsFADA+MRswGQYDVQQKDBJQYWlk
T25jZSBzZWxmLW1hZGUxHzAdBgNVBAMMFlBhaWRPbmNlIHN0YW5kLWluIHJvb3Qw
IBcNMjAwMTAxMDAwMDAwWhgPMjA5OTEyMzEyMzU5NTlaMD4xGzAZBgNVBAoMElBh
aWRPbmNlIHNlbGYtbWFkZTEfMB0GA1UEAwwWUGFpZE9uY2Ugc3RhbmQtaW4gcm9v
dDCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBAKQ8UB+weUC2BwnShmub
fIafphBbcRJEdrUhZeH9a09o3GdBL6r+S6LevHYRlpl40P04Xwr2YKL/Fk6ivNil
miHNR0zLfIA69Z9gnp4t/ZfL0ql35P5VyT+hz/48V7FN5JTR3x3EJfmip7/kfW3m
SyyjGCYbZrmzZTmNxLEMFn5AezttE2NsYERHI1t9i007T0mu34AcnaCVhKgFvydI
fMzOBN22GVcS/8FTSQXDJIlAjHiV4higA41ZeP7XW7wzgUe35Ihw7DqZ/JvgEF4G
QKiF8Z96bo3nsP9eP9WS7SxodfLj4pKAfnF3nqJcxeSyEzZAM3dremC2Zj+Wj30e
QGcCAwEAAaMTMBEwDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOCAQEA
YvGj2W1Riv8osoCQJHyh+4yIgRaXWns092OkvHByBY8nhsIdo6SprF2O2IcHQm7H
dL5xShSgF+JlaZqxXkgSAHZiVmqMbFfhMdwiwTZg5gcON+q0O0zOpHBtlu55LuCj
TsJ8bAR+3XSJjm6KR4TXUSigGg+TOnQFBvA+7yTHF53OW/RAEK2LAAfa6VE2mUaf
EDzGOY+G1fjm5ynoAZQn2mzm4KFKdHx5Sn4Uk77hw0eTfvKmDdeiM9vpRYCDOSQP
Sgha4gC0HpT8zxunpLGv+bfcuLgyEbarIrniL0DTM1o7YeiQpJuaalxBsyZa4sBl
m8I4y9skkGa+Swhr6Sur/w==
-----END CERTIFICATE-----
`

const ISSUER = `-----BEGIN CERTIFICATE-----
MIIDDjCCAfagAwIBAgIBAjANBgkqhkiG9w0BAQsFADA+MRswGQYDVQQKDBJQYWlk
T25jZSBzZWxmLW1hZGUxHzAdBgNVBAMMFlBhaWRPbmNlIHN0YW5kLWluIHJvb3Qw
IBcNMjAwMTAxMDAwMDAwWhgPMjA5OTEyMzEyMzU5NTlaMEAxGzAZBgNVBAoMElBh
aWRPbmNlIHNlbGYtbWFkZTEhMB8GA1UEAwwYUGFpZE9uY2Ugc3RhbmQtaW4gaXNz
dWVyMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAyqa3bvFzj+y32LGZ
gvR1rVh2g1L4Ki/VkN7nx8ILSKWNy2w3HFQTobCLKIsuaoYgXG9yerIaTGHEXZXi
9ddbH9rtIYGBMOuhULb8DRNSRCUjTjBOmGgUaKyJElr2Fi+OFblv9+pHK638qQ6c
vds/koE5TmH7Tamda+/bbGtn9TcXhjrhSvhIidVbMGfA+HGxoV3SZUkamCCp2qGz
ocpklHdXZzRP4OAIbkm6w/Q/emz+hzKStsqfXkGR1+XJD+XcPhEPTJB/aCyTGf5N
4lAjSRRgAykfkdNyyzfhrrOPvqNlYBzuEk4uqzf36SgKTc7wqw185PZYHg1T8oRS
idQKVwIDAQABoxMwETAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4IB
AQADIhmem9a/7hGTFVz88TbIOO2i7gElE112yAI8fmgZtYkj9BeVZy/czW9fKWGG
DAQ405HCesYerb/N6p48b45EVkljQfjxfGF5cGY52woM6HE+FFbqitVjbaf1q2w7
BwNBuyLyh9Ml/vmoPwDpb6ya1KMAt6lVOjumLf0fi7ERCLYr+xb6X93HBcf44/aE
6cNrM5TCf6Xih6y6lhA86M8ItLJviN0MWRd2HnioDw+sutZabJ6kl/t2Soad7ZUh
yLQH5pkbICKKXDMqzQGrMgOkzLDnEADQ9gTiA+bWweCMmHfcImv9wp5O75XThOZO
U/4U9tlQgJoQnzVWuxBwfeaa
-----END CERTIFICATE-----
`

const SIGNER = `-----BEGIN CERTIFICATE-----
MIIDIDCCAgigAwIBAgIBAzANBgkqhkiG9w0BAQsFADBAMRswGQYDVQQKDBJQYWlk
T25jZSBzZWxmLW1hZGUxITAfBgNVBAMMGFBhaWRPbmNlIHN0YW5kLWluIGlzc3Vl
cjAgFw0yMDAxMDEwMDAwMDBaGA8yMDk5MTIzMTIzNTk1OVowUzEbMBkGA1UECgwS
UGFpZE9uY2Ugc2VsZi1tYWRlMTQwMgYDVQQDDCttZXNzYWdldmVyaWZpY2F0aW9u
Y2VydHMuc2FuZGJveC5wYXlwYWwuY29tMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A
MIIBCgKCAQEAs5SAtdjtst+j8LODysHDrGdYln/GtLB93wEiQrxKeuhwcGri9q4V
eJawRZpyV/teRptcALTgoQDjVl2iqKUcf/P7HKCy2VqhDmf7y5AH/hSt67McP2Go
J4M8qJ1hyWCklmwgwCCuzfTy2W3CIGJRgntnK7WL9KVIBjG5zr0YgMSMPFyRp4Vq
PWMHsMbkVTEyyYZxZBXr2a0VqXwE0Hc2eK2llN3VAmL05CFfxEGeZGoX1u8ZUrP5
0Zye7WXyIwZGn4WYE4LOXdJ5vOLe15J056RRdrLHinaFmnVgiL1RtEczaJusuDSC
rssOVL96PVRYXKQfj9SVZ56ctqw3XCp2sQIDAQABoxAwDjAMBgNVHRMBAf8EAjAA
MA0GCSqGSIb3DQEBCwUAA4IBAQAP3h7pgIrWt6iATHss1veRr1jAk1ui0ytRjY3j
Km2bBmeUwoOHoHk7zrGFaBX5IcEBJTP71eUD69ptyrr7f8VxVGXT+tkM1+sFDDNh
jRGdc1dnD8gIiarKJEIecBbauN2rqBTxAKB9DRUxP+C/JRUNr/3b9+MSt5TzUVTe
EmjcigHMhhmqyx5ZyqAqHrUwameRwnxrrCwblcYzezkPOUtsasdQ6WpgKjtXvhuX
yOpOr52hR9q8iz1TjxvH08f1pLwb/9T222maOeR7QYvhUEPYyXEyi3K/fbDiqDIj
5rC9kmzDXe8tARQWbqrQKtMTjMYmXteSzYMtVR+7KayHl1jq
-----END CERTIFICATE-----
`

const SIGNER_KEY = `-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCzlIC12O2y36Pw
s4PKwcOsZ1iWf8a0sH3fASJCvEp66HBwauL2rhV4lrBFmnJX+15Gm1wAtOChAONW
XaKopRx/8/scoLLZWqEOZ/vLkAf+FK3rsxw/YagngzyonWHJYKSWbCDAIK7N9PLZ
bcIgYlGCe2crtYv0pUgGMbnOvRiAxIw8XJGnhWo9YwewxuRVMTLJhnFkFevZrRWp
fATQdzZ4raWU3dUCYvTkIV/EQZ5kahfW7xlSs/nRnJ7tZfIjBkafhZgTgs5d0nm8
4t7XknTnpFF2sseKdoWadWCIvVG0RzNom6y4NIKuyw5Uv3o9VFhcpB+P1JVnnpy2
rDdcKnaxAgMBAAECggEAAOEjxxWKmQmo3loL2jtM4pdCySMKfL9I56pMnQj1gV7f
YGFfh79C4uVAHvu2pk7kpZaKhcHKuh2aPF4K7hONHhWV5QxIO5BEuggxGKG7wKr7
7McyD9aLKvEJZwMi30U3zC0rxEUbj/P7tyYFsh6226qieZHZFjBME1WYV1sKq3zb
HDFClnv2/JRh84qEqxniNbU8JoOCTO18RGEL8inX7NLNaimpcfRshnco6C7Rr0dM
1IptDkNZ3rBFTlH/SSc46qf/4sPRZeTdzIzRslakXXAX3cuEXhad9RqW2aJUUVXp
TdQOc6rawkL/72yCqynpXxnltce1LWYRXVf6eHcMkQKBgQDjjzm7zgkZrqUOXWCJ
mlAGW5gUJe+pgeOJR2Qva7aPzCXejvlhkR6MxdZycXmznQGF1iol+flgyCp+1/+o
vlEJQMxRJo7IyHUZInu7fApy5jDfbyQjW0YwBeM/ehDLVOvwhAoFfaiB+Y3w1mMk
YLWc91gACQawboiFgf8n8ksyhwKBgQDKBizFpSlAeYT0+w768ExNHbMmJCMtycCx
8RLdUPEfJz2FrvdMjPJcsqypes4GH84fukKJqYjPn6rMlUWOcGGMFwrPbnsbxFPm
FQxQ2TXI9/hBHyRjs5GvIxmIzGdcGYOyKREzreHh4zzh09hPvZ6b5fTgbfj2Umou
nc2Rt/eDBwKBgE62QwUYPoOYqlUurW7LZrTcR91oRd7/I8JfZGMWwf45Yjv6fn5m
IQgWgpfxcmRTgaxWqRubvMviUPixJCitNACcXlAPo0IGPKLmD6CJRl/6CZuvqPNl
5gBEeReC1H5QsI/wTDsb/QaAWL2emoqBvTA/Sjww4xRyF1z+21Bo+ePPAoGBAMSl
6BTnZNU2tF4Gt5k6KPtzqnu492lNlr1ezR8S9/J8Lt2e52fjVtM2tO0v9bVuZiTq
GHSJyvtXD1me/5rb94f2sfYiM8FehNBUsq1MEZezEDrLho9qLqgNAYDwfrfeuhvE
79KfMl2/5PZpUIimKerUl12SjqGurV79CioKqeonAoGAdm+fqD75GlJWqYaRkdlL
DsaDksG7fBGARIw77ohY9aky2PS9+BtBUUpNWkgAiygdhaATT5QeLz/Y/sWpNDOg
jFo54gUy0ILxUg76gEMrtgNKHUOYuyO330eoSPLGHnXqHpV0rAesEcJgM/w9wbUi
y3TcNBrzO5trgPQpbV4u900=
-----END PRIVATE KEY-----
`

/** The file behind the address below, as PayPal's: the signer first, then its issuer. */
export const standInCertificates = SIGNER + ISSUER
export const STAND_IN_PATH = '/v1/notifications/certs/CERT-360caa42-fca2a594-paidonce'
const ADDRESS = `https://api.sandbox.paypal.com${STAND_IN_PATH}`

/** The headers with which PayPal's sandbox would send this body, signed with the key of the stand-in. */
export function signPaypal(
  body: string | Uint8Array,
  webhookId: string,
  now_ms: number,
  transmission = 'b2f5d0a0-0000-11f0-8d5e-0f1e2d3c4b5a',
): Record<string, string> {
  const time = new Date(Math.floor(now_ms / 1000) * 1000).toISOString().replace('.000Z', 'Z')
  const signed = `${transmission}|${time}|${webhookId}|${crc32(Buffer.from(body))}`
  return {
    'content-type': 'application/json',
    'paypal-transmission-id': transmission,
    'paypal-transmission-time': time,
    'paypal-transmission-sig': sign('sha256', Buffer.from(signed, 'latin1'), SIGNER_KEY).toString('base64'),
    'paypal-cert-url': ADDRESS,
    'paypal-auth-algo': 'SHA256withRSA',
  }
}
