"""The sink against a QuestDB in a container, while things happen to that container. Needs a Docker engine."""
