"""Failures of requests to registries."""


class RegistryError(Exception):
    """A registry gave no usable response. `str()` is a message for users in their language.

    The message names hosts and reasons, and contains neither credentials nor the response's body.
    """


class SignInRefused(RegistryError):
    """The registry refused the credentials, or requires some."""


class NotInRegistry(RegistryError):
    """The registry has no such repository, tag or digest, or the credentials may not read it."""


class UntrustedRegistry(RegistryError):
    """The certificate of the registry can't be verified."""
