"""The command `quarterdeck`. In a wheel, this package contains the console as well."""
