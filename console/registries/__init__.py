"""Client of container registries: signs in, lists tags and reads images, for a user of the console.

Addresses come from users, so every connection is checked (`console.registries.policy`).
"""
